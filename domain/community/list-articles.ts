import { literalPattern } from '../kernel/literal-pattern.js';
import { createGroupedReads } from '../platform/grouped-reads.js';
import { type ListOrder, readSummaries, type SummarisedArticle } from './article.model.js';
import { type ArticleSummary, presentArticleSummary } from './article.presenter.js';
import type { CommunityDeps } from './community-deps.js';

export interface ArticleQuery {
  order: ListOrder;
  /** From 1. */
  page: number;
  /** Articles per page. */
  size: number;
  categoryId?: number | undefined;
  /** Matched literally and case-insensitively; ignored without `option`. */
  keyword?: string | undefined;
  /** Where to search: `either` title or context; `author` is the author's nickname. */
  option?: 'title' | 'context' | 'either' | 'author' | undefined;
}

export interface ArticleList {
  hot: ArticleSummary | null;
  weekly: ArticleSummary | null;
  list: ArticleSummary[];
}

/** Most authors that a search by nickname considers. */
const MAX_AUTHORS = 200;

type ListDeps = Pick<CommunityDeps, 'directory' | 'trending' | 'localTime'>;

/** A page of the list, with the hot and the weekly article, to which filters do not apply. */
export async function listArticles(deps: ListDeps, query: ArticleQuery): Promise<ArticleList> {
  const [page, { hot, weekly }] = await Promise.all([findPage(deps, query), findTrending(deps)]);
  const shown = [...page, ...[hot, weekly].filter((article) => article !== undefined)];
  const authors = await deps.directory.lookUp(shown.map(({ authorNo }) => authorNo));
  const present = (article: SummarisedArticle) =>
    presentArticleSummary(article, authors.get(article.authorNo), deps.localTime);
  return {
    hot: hot ? present(hot) : null,
    weekly: weekly ? present(weekly) : null,
    list: page.map(present),
  };
}

async function findPage({ directory }: ListDeps, query: ArticleQuery): Promise<SummarisedArticle[]> {
  const { order, page, size, categoryId } = query;
  const category = categoryId === undefined ? {} : { categoryId };
  const matching = await searchFilter(directory, query);
  return readSummaries({ ...category, ...matching }, { order, skip: (page - 1) * size, limit: size });
}

async function searchFilter(
  directory: ListDeps['directory'],
  { keyword, option }: ArticleQuery,
): Promise<object> {
  if (keyword === undefined || option === undefined) return {};
  if (option === 'author') return { authorNo: { $in: await directory.findByNickname(keyword, MAX_AUTHORS) } };
  const pattern = { $regex: literalPattern(keyword), $options: 'i' };
  if (option === 'either') return { $or: [{ title: pattern }, { context: pattern }] };
  return { [option]: pattern };
}

const readSummary = createGroupedReads(async (numbers: number[]) => {
  const articles = await readSummaries({ _id: { $in: numbers } });
  return new Map(articles.map((article) => [article._id, article]));
});

/** The first live article of the list by hearts; concurrent callers share the read. */
const readBest = createGroupedReads(async (_: 'best'[]) => {
  const [best] = await readSummaries({}, { order: 'like', limit: 1 });
  return new Map<'best', SummarisedArticle>(best ? [['best', best]] : []);
});

/** The current trending articles; the best live article of all time for a window without hearts. */
async function findTrending({
  trending,
}: ListDeps): Promise<Record<'hot' | 'weekly', SummarisedArticle | undefined>> {
  for (;;) {
    const { hot, weekly } = await trending.current();
    const leaders = [hot, weekly].map((leader) => leader?.articleId);
    const [first, second] = await Promise.all(
      leaders.map((no) => (no === undefined ? readBest('best') : readSummary(no))),
    );
    const deleted = leaders.filter((no, i) => no !== undefined && ![first, second][i]);
    if (deleted.length === 0) return { hot: first, weekly: second };
    // Deleted by another process: choose again.
    for (const no of deleted) trending.heartsChanged(no as number);
  }
}
