import type { Actor } from '../../kernel/actor.js';
import { AppError } from '../../kernel/errors.js';
import { changeRecord } from '../../platform/mongo/records.js';
import type { CommunityDeps } from '../community-deps.js';
import { Article, type ArticleRecord } from './article.model.js';
import { type ArticleDetail, presentArticle } from './article.presenter.js';

/**
 * Shows an article and counts the view; the count shown includes it.
 *
 * @param reader who asks, if known
 * @param peek counts no view
 * @throws AppError ARTICLE_NOT_FOUND
 */
export async function readArticle(
  { directory, trending, localTime }: Pick<CommunityDeps, 'directory' | 'trending' | 'localTime'>,
  reader: Actor | undefined,
  articleId: number,
  peek = false,
): Promise<ArticleDetail> {
  const live = { _id: articleId, state: 'live' } as const;
  const article = peek
    ? await Article.findOne(live).lean()
    : await changeRecord<ArticleRecord>(Article, live, { $inc: { views: 1 } });
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  if (!peek) trending.viewed(articleId);
  const authors = await directory.lookUp([article.authorNo]);
  return presentArticle(article, authors.get(article.authorNo), reader, localTime);
}
