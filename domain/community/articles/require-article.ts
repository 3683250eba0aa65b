import { AppError } from '../../kernel/errors.js';
import { Article } from './article.model.js';

/**
 * The live article of a number, for what is done to or under it.
 * @throws AppError ARTICLE_NOT_FOUND when there is none, or it was deleted
 */
export async function requireArticle(articleId: number): Promise<{ _id: number; authorNo: number }> {
  const article = await Article.findOne({ _id: articleId, state: 'live' }, { authorNo: 1 }).lean();
  if (!article) throw new AppError('ARTICLE_NOT_FOUND');
  return article;
}
