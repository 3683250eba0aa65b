import { Article } from './article.model.js';
import { Comment, type CommentRecord } from './comment.model.js';
import type { CommunityDeps } from './community-deps.js';
import { Heart } from './heart.model.js';
import { tryPublish } from './try-publish.js';

type FinishDeps = Pick<CommunityDeps, 'counters' | 'events' | 'logger'>;

/**
 * Finishes a comment's creation or deletion, whichever its record shows as the last, and clears its mark.
 * Repeatable, so that a sweep can finish it after a crash.
 *
 * @returns false if its article is not live
 */
export async function finishComment(deps: FinishDeps, comment: CommentRecord): Promise<boolean> {
  return comment.state === 'live' ? finishCreation(deps, comment) : finishDeletion(deps, comment);
}

async function finishCreation(deps: FinishDeps, comment: CommentRecord): Promise<boolean> {
  const { counters, logger } = deps;
  const { _id, articleId, parentId } = comment;
  // If the answered comment was deleted meanwhile, it becomes a flagged one.
  if (parentId !== 0) await counters.repliesOfDeleted(parentId);
  if ((await counters.articleComments(articleId)) === undefined) {
    // Deleted before this comment was stored: nobody was notified of it.
    await Comment.deleteOne({ _id });
    return false;
  }
  if (await tryPublish(logger, () => publishCommentCreated(deps, comment))) {
    // Keeps the mark of a deletion meanwhile.
    await Comment.updateOne({ _id, state: 'live' }, { $unset: { pending: 1 } });
  }
  return true;
}

/** Notifies the author of the comment or article that is answered, unless they wrote the answer. */
async function publishCommentCreated({ events }: FinishDeps, comment: CommentRecord): Promise<void> {
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

async function finishDeletion({ counters }: FinishDeps, comment: CommentRecord): Promise<boolean> {
  const { _id, articleId, parentId } = comment;
  await Heart.deleteMany({ target: 'comment', id: _id });
  // Raised after the hearts are gone: a recount begun before stores nothing.
  await Comment.updateOne({ _id }, { $set: { hearts: 0 }, $inc: { heartsVersion: 1 } });
  await counters.repliesOfDeleted(_id);
  // A flagged comment disappears with its last live reply.
  if (parentId !== 0) await counters.repliesOfDeleted(parentId);
  const counted = await counters.articleComments(articleId);
  await Comment.updateOne({ _id, state: { $ne: 'live' } }, { $unset: { pending: 1 } });
  return counted !== undefined;
}
