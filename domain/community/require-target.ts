import type { HeartTarget } from './heart.model.js';
import { requireArticle } from './require-article.js';
import { requireComment } from './require-comment.js';

/**
 * Finds the target of a heart.
 * @returns the number of the article that it is or belongs to
 * @throws AppError ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND
 */
export async function requireTarget(target: HeartTarget, id: number): Promise<number> {
  if (target === 'article') return (await requireArticle(id))._id;
  return (await requireComment(id)).articleId;
}
