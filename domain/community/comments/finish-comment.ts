import { announceOrLeave } from '../announce.js';
import { Article } from '../articles/article.model.js';
import type { CommunityDeps } from '../community-deps.js';
import { Heart } from '../hearts/heart.model.js';
import { Comment, type CommentRecord } from './comment.model.js';

type FinishParts = Pick<CommunityDeps, 'counters' | 'events' | 'logger'>;

/**
 * Does what follows from a comment's creation or deletion, whichever its record says happened last,
 * and clears its mark. May be repeated, so a sweep can finish it after a crash.
 *
 * @returns false when its article is not live (any more)
 */
export async function finishComment(parts: FinishParts, comment: CommentRecord): Promise<boolean> {
  return comment.state === 'live' ? finishCreation(parts, comment) : finishDeletion(parts, comment);
}

async function finishCreation(parts: FinishParts, comment: CommentRecord): Promise<boolean> {
  const { counters, logger } = parts;
  const { _id, articleId, parentId } = comment;
  // Where the answered comment was deleted in the meantime, it stays as a flagged one.
  if (parentId !== 0) await counters.repliesOfDeleted(parentId);
  if ((await counters.articleComments(articleId)) === undefined) {
    // Deleted before this comment was there: nobody was told that it was written.
    await Comment.deleteOne({ _id });
    return false;
  }
  if (await announceOrLeave(logger, () => announceComment(parts, comment))) {
    // A deletion that came in the meantime has set its own mark. The state tells them apart, because
    // no comment comes back to life.
    await Comment.updateOne({ _id, state: 'live' }, { $unset: { pending: 1 } });
  }
  return true;
}

/** Tells the author of what was answered: the comment's for a reply, else the article's; never oneself. */
async function announceComment({ events }: FinishParts, comment: CommentRecord): Promise<void> {
  const { _id: commentId, articleId, parentId, authorNo, context } = comment;
  const answered =
    parentId === 0
      ? await Article.findOne({ _id: articleId }, { authorNo: 1 }).lean()
      : await Comment.findOne({ _id: parentId }, { authorNo: 1 }).lean();
  if (!answered || answered.authorNo === authorNo) return;
  await events.publish('comment.created', {
    commentId,
    articleId,
    authorNo,
    recipientNo: answered.authorNo,
    kind: parentId === 0 ? 'comment' : 'recomment',
    context,
  });
}

async function finishDeletion({ counters }: FinishParts, comment: CommentRecord): Promise<boolean> {
  const { _id, articleId, parentId } = comment;
  await Heart.deleteMany({ target: 'comment', id: _id });
  // The version moves after the hearts are gone: a recount that began before stores nothing.
  await Comment.updateOne({ _id }, { $set: { hearts: 0 }, $inc: { heartsVersion: 1 } });
  await counters.repliesOfDeleted(_id);
  // A flagged comment goes with its last live reply.
  if (parentId !== 0) await counters.repliesOfDeleted(parentId);
  const counted = await counters.articleComments(articleId);
  await Comment.updateOne({ _id, state: { $ne: 'live' } }, { $unset: { pending: 1 } });
  return counted !== undefined;
}
