import { literalPattern } from '../../kernel/literal-pattern.js';
import { createGroupedReads } from '../../platform/grouped-reads.js';
import { readRecords } from '../../platform/mongo/records.js';
import type { CommunityDeps } from '../community-deps.js';
import { Article, type ArticleRecord } from './article.model.js';
import { type ArticleSummary, presentArticleSummary, type SummarisedArticle } from './article.presenter.js';

/** The order of a list: newest first, or most hearts (then views, then newest) first. */
export type ListOrder = 'recent' | 'like';

export interface ArticleQuery {
  order: ListOrder;
  /** From 1. */
  page: number;
  /** Articles a page. */
  size: number;
  categoryId?: number | undefined;
  /** Matched literally, in any case; nothing without `option`. */
  keyword?: string | undefined;
  /** Where the keyword is looked for: `either` title or context; `author` is the author's nickname. */
  option?: 'title' | 'context' | 'either' | 'author' | undefined;
}

export interface ArticleList {
  hot: ArticleSummary | null;
  weekly: ArticleSummary | null;
  list: ArticleSummary[];
}

/** Most authors a search by nickname takes in. */
const MAX_AUTHORS = 200;

const ORDERS = { recent: { _id: -1 }, like: { hearts: -1, views: -1, _id: -1 } } as const;

const SUMMARY_FIELDS = {
  authorNo: 1,
  title: 1,
  context: 1,
  views: 1,
  comments: 1,
  hearts: 1,
  publishedAt: 1,
  thumbnail: 1,
} as const;

type ListParts = Pick<CommunityDeps, 'directory' | 'trending' | 'localTime'>;

/** The page asked for, with the hot and the weekly article, which no filter changes. */
export async function listArticles(parts: ListParts, query: ArticleQuery): Promise<ArticleList> {
  const [page, leading] = await Promise.all([findPage(parts, query), findLeading(parts)]);
  const shown = [...page, ...[leading.hot, leading.weekly].filter((article) => article !== undefined)];
  const authors = await parts.directory.lookUp(shown.map(({ authorNo }) => authorNo));
  const present = (article: SummarisedArticle) =>
    presentArticleSummary(article, authors.get(article.authorNo), parts.localTime);
  return {
    hot: leading.hot ? present(leading.hot) : null,
    weekly: leading.weekly ? present(leading.weekly) : null,
    list: page.map(present),
  };
}

async function findPage({ directory }: ListParts, query: ArticleQuery): Promise<SummarisedArticle[]> {
  const { order, page, size, categoryId, keyword, option } = query;
  const pattern = keyword === undefined ? undefined : { $regex: literalPattern(keyword), $options: 'i' };
  const authors =
    keyword !== undefined && option === 'author'
      ? await directory.findByNickname(keyword, MAX_AUTHORS)
      : undefined;
  return readRecords<ArticleRecord>(
    Article,
    {
      state: 'live',
      ...(categoryId !== undefined && { categoryId }),
      ...(pattern && option === 'title' && { title: pattern }),
      ...(pattern && option === 'context' && { context: pattern }),
      ...(pattern && option === 'either' && { $or: [{ title: pattern }, { context: pattern }] }),
      ...(authors && { authorNo: { $in: authors } }),
    },
    { projection: SUMMARY_FIELDS, sort: ORDERS[order], skip: (page - 1) * size, limit: size },
  );
}

type Leading = Record<'hot' | 'weekly', SummarisedArticle | undefined>;

/** Summaries of live articles by number, as many callers want the same ones at the same moment. */
const readSummaries = createGroupedReads(async (numbers: number[]) => {
  const articles = await readRecords<ArticleRecord>(
    Article,
    { _id: { $in: numbers }, state: 'live' },
    { projection: SUMMARY_FIELDS },
  );
  return new Map<number, SummarisedArticle>(articles.map((article) => [article._id, article]));
});

/** The live article that leads the list by likes. */
const readBest = createGroupedReads(async (_: 'best'[]) => {
  const [best] = await readRecords<ArticleRecord>(
    Article,
    { state: 'live' },
    { projection: SUMMARY_FIELDS, sort: ORDERS.like, limit: 1 },
  );
  return new Map<'best', SummarisedArticle>(best ? [['best', best]] : []);
});

/**
 * The leaders as they are now; where a window is empty, the best live article of all time.
 */
async function findLeading({ trending }: ListParts): Promise<Leading> {
  for (;;) {
    const standing = await trending.standing();
    const numbers = [standing.hot, standing.weekly].flatMap((leader) => (leader ? [leader.articleId] : []));
    const [articles, best] = await Promise.all([
      Promise.all(numbers.map(readSummaries)),
      standing.hot && standing.weekly ? undefined : readBest('best'),
    ]);
    const byNumber = new Map(articles.flatMap((article) => (article ? [[article._id, article]] : [])));
    if (numbers.every((no) => byNumber.has(no))) {
      const pick = (leader: { articleId: number } | undefined) =>
        leader ? byNumber.get(leader.articleId) : best;
      return { hot: pick(standing.hot), weekly: pick(standing.weekly) };
    }
    // Another process has deleted a leader this one still remembers.
    for (const no of numbers) if (!byNumber.has(no)) trending.heartsChanged(no);
  }
}
