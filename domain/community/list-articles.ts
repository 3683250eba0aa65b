import { commonLength } from '../kernel/list-size.js';
import { codePoints, shortened } from '../kernel/shortened.js';
import { createGroupedReads } from '../platform/async/grouped-reads.js';
import { readSummaries, type SummarisedArticle } from './article.model.js';
import { type ArticleSummary, presentArticleSummary } from './article.presenter.js';
import type { CommunityDeps } from './community-deps.js';
import { type ArticleSearch, searchArticles } from './search-articles.js';

/** A page of the list; a search needs both `keyword` and `option`. */
export type ArticleQuery = Omit<ArticleSearch, 'keyword' | 'option'> & {
  keyword?: string | undefined;
  option?: ArticleSearch['option'] | undefined;
};

export interface ArticleList {
  hot: ArticleSummary | null;
  weekly: ArticleSummary | null;
  list: ArticleSummary[];
}

/** Most characters of text in a page, `hot` and `weekly`: of longer ones the longest texts are shortened. */
export const MAX_TEXT = 256 * 1024;

type ListDeps = Pick<CommunityDeps, 'directory' | 'trending' | 'localTime' | 'searches'>;

/**
 * A page of the list, with the hot and the weekly article, to which filters do not apply.
 * @param signal ends a search, with its reason
 */
export async function listArticles(
  deps: ListDeps,
  query: ArticleQuery,
  signal?: AbortSignal,
): Promise<ArticleList> {
  const [page, { hot, weekly }] = await Promise.all([findPage(deps, query, signal), findTrending(deps)]);
  const shown = [...page, ...[hot, weekly].filter((article) => article !== undefined)];
  const authors = await deps.directory.lookUp(shown.map(({ authorNo }) => authorNo));
  const length = commonLength(
    shown.map(({ context }) => codePoints(context)),
    MAX_TEXT,
  );
  const present = (article: SummarisedArticle) =>
    presentArticleSummary(
      { ...article, context: shortened(article.context, length) },
      authors.get(article.authorNo),
      deps.localTime,
    );
  return {
    hot: hot ? present(hot) : null,
    weekly: weekly ? present(weekly) : null,
    list: page.map(present),
  };
}

async function findPage(
  deps: ListDeps,
  query: ArticleQuery,
  signal?: AbortSignal,
): Promise<SummarisedArticle[]> {
  const { order, page, size, categoryId, keyword, option } = query;
  if (keyword !== undefined && option !== undefined)
    return searchArticles(deps, { ...query, keyword, option }, signal);
  const category = categoryId === undefined ? {} : { categoryId };
  return readSummaries(category, { order, skip: (page - 1) * size, limit: size });
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
