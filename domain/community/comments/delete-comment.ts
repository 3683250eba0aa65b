import type { Actor } from '../../kernel/actor.js';
import { AppError } from '../../kernel/errors.js';
import type { CommunityDeps } from '../community-deps.js';
import { Comment } from './comment.model.js';
import { mayChangeComment } from './comment.policy.js';
import { finishComment } from './finish-comment.js';
import { requireComment } from './require-comment.js';

/**
 * Deletes a comment or reply: blanks its text and removes its hearts. It stays visible as a flagged
 * one while live replies hang on it, and goes otherwise; a flagged one goes with its last reply.
 *
 * @throws AppError COMMENT_NOT_FOUND, FORBIDDEN
 */
export async function deleteComment(
  parts: Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'logger'>,
  actor: Actor,
  commentId: number,
): Promise<void> {
  const comment = await requireComment(commentId);
  if (!mayChangeComment(actor, comment)) {
    throw new AppError('FORBIDDEN', 'only its author may delete a comment');
  }
  const deleted = await Comment.findOneAndUpdate(
    { _id: commentId, state: 'live' },
    { $set: { state: 'flagged', context: '', pending: new Date(parts.clock.now()) } },
    { returnDocument: 'after' },
  ).lean();
  if (!deleted) throw new AppError('COMMENT_NOT_FOUND');
  await finishComment(parts, deleted);
}
