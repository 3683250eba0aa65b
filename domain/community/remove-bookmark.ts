import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Bookmark } from './bookmark.model.js';
import { requireArticle } from './require-article.js';

/** Removes a member's bookmark. @throws AppError ARTICLE_NOT_FOUND, BOOKMARK_NOT_FOUND */
export async function removeBookmark(actor: Actor, articleId: number): Promise<void> {
  const { deletedCount } = await Bookmark.deleteOne({ articleId, memberNo: actor.no });
  if (deletedCount > 0) return;
  await requireArticle(articleId);
  throw new AppError('BOOKMARK_NOT_FOUND');
}
