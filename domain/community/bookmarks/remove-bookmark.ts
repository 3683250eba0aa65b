import type { Actor } from '../../kernel/actor.js';
import { AppError } from '../../kernel/errors.js';
import { requireArticle } from '../articles/require-article.js';
import { Bookmark } from './bookmark.model.js';

/** Takes a member's bookmark away. @throws AppError ARTICLE_NOT_FOUND, BOOKMARK_NOT_FOUND */
export async function removeBookmark(actor: Actor, articleId: number): Promise<void> {
  const { deletedCount } = await Bookmark.deleteOne({ articleId, memberNo: actor.no });
  if (deletedCount > 0) return;
  await requireArticle(articleId);
  throw new AppError('BOOKMARK_NOT_FOUND');
}
