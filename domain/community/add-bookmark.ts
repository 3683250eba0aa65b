import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import { Bookmark } from './bookmark.model.js';
import type { CommunityDeps } from './community-deps.js';
import { requireArticle } from './require-article.js';

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
    // Deleted meanwhile, perhaps before this bookmark was stored.
    await Bookmark.deleteOne({ articleId, memberNo: actor.no });
    throw error;
  }
}
