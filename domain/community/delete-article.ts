import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Article } from './article.model.js';
import { Bookmark } from './bookmark.model.js';
import { Comment } from './comment.model.js';
import { requireMayChange } from './community.policy.js';
import type { CommunityDeps } from './community-deps.js';
import { Heart } from './heart.model.js';
import { requireArticle } from './require-article.js';

/**
 * Flags an article as deleted, which makes it and its comments 404, and removes its bookmarks, its hearts and
 * its comments' hearts.
 *
 * @throws AppError ARTICLE_NOT_FOUND, FORBIDDEN
 */
export async function deleteArticle(
  { clock, trending }: Pick<CommunityDeps, 'clock' | 'trending'>,
  actor: Actor,
  articleId: number,
): Promise<void> {
  requireMayChange(actor, await requireArticle(articleId), 'delete an article');
  const { matchedCount } = await Article.updateOne(
    { _id: articleId, state: 'live' },
    { $set: { state: 'deleted', pending: new Date(clock.now()) } },
  );
  if (matchedCount === 0) throw new AppError('ARTICLE_NOT_FOUND');
  await finishArticleDeletion(articleId);
  trending.heartsChanged(articleId);
}

/**
 * Removes a deleted article's hearts and bookmarks; repeatable, so that a sweep can finish it after a crash.
 * The versions are raised after the hearts are gone: a recount begun before stores nothing.
 */
export async function finishArticleDeletion(articleId: number): Promise<void> {
  await Promise.all([Heart.deleteMany({ articleId }), Bookmark.deleteMany({ articleId })]);
  await Comment.updateMany({ articleId }, { $set: { hearts: 0 }, $inc: { heartsVersion: 1 } });
  await Article.updateOne(
    { _id: articleId },
    { $set: { hearts: 0 }, $inc: { heartsVersion: 1, commentsVersion: 1 }, $unset: { pending: 1 } },
  );
}
