import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Comment } from './comment.model.js';
import { requireMayChange } from './community.policy.js';
import type { CommunityDeps } from './community-deps.js';
import { finishComment } from './finish-comment.js';
import { requireComment } from './require-comment.js';

/**
 * Deletes a comment or reply: empties its text and removes its hearts. It stays visible, flagged, while it
 * has live replies.
 *
 * @throws AppError COMMENT_NOT_FOUND, FORBIDDEN
 */
export async function deleteComment(
  deps: Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'logger'>,
  actor: Actor,
  commentId: number,
): Promise<void> {
  requireMayChange(actor, await requireComment(commentId), 'delete a comment');
  const deleted = await Comment.findOneAndUpdate(
    { _id: commentId, state: 'live' },
    { $set: { state: 'flagged', context: '', pending: new Date(deps.clock.now()) } },
    { returnDocument: 'after' },
  ).lean();
  if (!deleted) throw new AppError('COMMENT_NOT_FOUND');
  await finishComment(deps, deleted);
}
