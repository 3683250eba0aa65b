import type { Actor } from '../../kernel/actor.js';
import { AppError } from '../../kernel/errors.js';
import { isDuplicateKey } from '../../platform/mongo/errors.js';
import { requireArticle } from '../articles/require-article.js';
import type { CommunityDeps } from '../community-deps.js';
import { Bookmark } from './bookmark.model.js';

/** Bookmarks an article for a member. @throws AppError ARTICLE_NOT_FOUND, ALREADY_BOOKMARKED */
export async function addBookmark(
  { clock }: Pick<CommunityDeps, 'clock'>,
  actor: Actor,
  articleId: number,
): Promise<void> {
  await requireArticle(articleId);
  try {
    await Bookmark.create({ articleId, memberNo: actor.no, at: new Date(clock.now()) });
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError('ALREADY_BOOKMARKED');
    throw error;
  }
  try {
    await requireArticle(articleId);
  } catch (error) {
    // Deleted in the meantime: its bookmarks may have been removed before this one was there.
    await Bookmark.deleteOne({ articleId, memberNo: actor.no });
    throw error;
  }
}
