import { AppError } from '../kernel/errors.js';
import { createGroupedReads } from '../platform/async/grouped-reads.js';
import { type LiveArticle, readLive } from './article.model.js';

const readGrouped = createGroupedReads(async (numbers: number[]) => {
  const articles = await readLive(numbers);
  return new Map(articles.map((article) => [article._id, article]));
});

/**
 * The live article with this number.
 * @throws AppError ARTICLE_NOT_FOUND if there is none, or it was deleted
 */
export async function requireArticle(articleId: number): Promise<LiveArticle> {
  const article = await readGrouped(articleId);
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  return article;
}
