import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Article, countView } from './article.model.js';
import { type ArticleDetail, presentArticle } from './article.presenter.js';
import type { CommunityDeps } from './community-deps.js';

/**
 * Shows an article and counts the view, which the count shown includes.
 *
 * @param reader the caller, if known
 * @param peek counts no view
 * @throws AppError ARTICLE_NOT_FOUND
 */
export async function readArticle(
  { directory, trending, localTime }: Pick<CommunityDeps, 'directory' | 'trending' | 'localTime'>,
  reader: Actor | undefined,
  articleId: number,
  peek = false,
): Promise<ArticleDetail> {
  const article = peek
    ? await Article.findOne({ _id: articleId, state: 'live' }).lean()
    : await countView(articleId);
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  if (!peek) trending.viewed(articleId);
  const authors = await directory.lookUp([article.authorNo]);
  return presentArticle(article, authors.get(article.authorNo), reader, localTime);
}
