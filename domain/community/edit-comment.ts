import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { Comment } from './comment.model.js';
import { requireMayChange } from './community.policy.js';
import { requireComment } from './require-comment.js';

/** Replaces a comment's text. @throws AppError COMMENT_NOT_FOUND, FORBIDDEN */
export async function editComment(actor: Actor, commentId: number, context: string): Promise<void> {
  requireMayChange(actor, await requireComment(commentId), 'edit a comment');
  const { matchedCount } = await Comment.updateOne({ _id: commentId, state: 'live' }, { $set: { context } });
  // Deleted meanwhile.
  if (matchedCount === 0) throw new AppError('COMMENT_NOT_FOUND');
}
