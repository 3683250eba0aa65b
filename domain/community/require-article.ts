import { AppError } from '../kernel/errors.js';
import { createGroupedReads } from '../platform/grouped-reads.js';
import { readLiveAuthors } from './article.model.js';

const readLive = createGroupedReads(async (numbers: number[]) => {
  const articles = await readLiveAuthors(numbers);
  return new Map(articles.map((article) => [article._id, article]));
});

/**
 * The live article with this number.
 * @throws AppError ARTICLE_NOT_FOUND if there is none, or it was deleted
 */
export async function requireArticle(articleId: number): Promise<{ _id: number; authorNo: number }> {
  const article = await readLive(articleId);
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  return article;
}
