import { setTimeout as sleep } from 'node:timers/promises';
import { literalPattern, patternsOf } from '../kernel/literal-pattern.js';
import { comparable } from '../kernel/same-text.js';
import {
  countLive,
  type ListOrder,
  type LiveArticle,
  readLiveSlice,
  readSummaries,
  type SummarisedArticle,
} from './article.model.js';
import type { CommunityDeps } from './community-deps.js';

export interface ArticleSearch {
  order: ListOrder;
  /** From 1. */
  page: number;
  /** Articles per page. */
  size: number;
  categoryId?: number | undefined;
  /** Matched literally, case-insensitively and in any form of Unicode (NFC, NFD). */
  keyword: string;
  /** Where to search: `either` title or context; `author` is the author's nickname. */
  option: 'title' | 'context' | 'either' | 'author';
}

/** Articles that a search looks through, from the beginning of the list. */
const MAX_SEARCHED = 10_000;

/** Articles of one query: some 20 ms of the embedded database, which does one thing at a time. */
const SLICE = 200;

/**
 * A page of the articles that match, in the order of the list. The list is read slice by slice over its index,
 * and between slices the database is left alone for as long as the last one took: no query of others waits for
 * more than a slice. (docs/decisions/search.md)
 *
 * @param signal ends it, with its reason, in the queue or after the current slice: nobody waits for the answer
 */
export async function searchArticles(
  { directory, searches }: Pick<CommunityDeps, 'directory' | 'searches'>,
  search: ArticleSearch,
  signal?: AbortSignal,
): Promise<SummarisedArticle[]> {
  const { page, size } = search;
  const numbers = await searches(() => findNumbers(directory, search, page * size, signal), signal);
  const shown = numbers.slice((page - 1) * size);
  const articles = new Map(
    (await readSummaries({ _id: { $in: shown } })).map((article) => [article._id, article]),
  );
  return shown.map((no) => articles.get(no)).filter((article) => article !== undefined);
}

/** The numbers of the first `wanted` articles that match. */
async function findNumbers(
  directory: CommunityDeps['directory'],
  search: ArticleSearch,
  wanted: number,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const { order, categoryId } = search;
  const category = categoryId === undefined ? {} : { categoryId };
  const found = new Set<number>();
  const total = await countLive(category, MAX_SEARCHED);
  for (let skip = 0; skip < total && found.size < wanted; skip += SLICE) {
    const startedAt = performance.now();
    const slice = { order, skip, limit: Math.min(SLICE, MAX_SEARCHED - skip) };
    const matching = await readLiveSlice(category, slice, contentFilter(search));
    // In a set: an article may move to the next slice meanwhile.
    for (const { _id } of await byNickname(directory, search, matching)) found.add(_id);
    await sleep(performance.now() - startedAt);
    signal?.throwIfAborted();
  }
  return [...found].slice(0, wanted);
}

function contentFilter({ keyword, option }: ArticleSearch): object {
  if (option === 'author') return {};
  const patterns = patternsOf(keyword).map((source) => ({ $regex: source, $options: 'i' }));
  const fields = option === 'either' ? ['title', 'context'] : [option];
  return { $or: fields.flatMap((field) => patterns.map((pattern) => ({ [field]: pattern }))) };
}

async function byNickname(
  directory: CommunityDeps['directory'],
  { keyword, option }: ArticleSearch,
  articles: LiveArticle[],
): Promise<LiveArticle[]> {
  if (option !== 'author') return articles;
  const authors = await directory.lookUp(articles.map(({ authorNo }) => authorNo));
  const pattern = new RegExp(literalPattern(comparable(keyword)), 'i');
  return articles.filter(({ authorNo }) => pattern.test(comparable(authors.get(authorNo)?.nickname ?? '')));
}
