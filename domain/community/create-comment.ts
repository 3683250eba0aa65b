import type { Actor } from '../kernel/actor.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import { Comment, type CommentRecord } from './comment.model.js';
import type { CommunityDeps } from './community-deps.js';
import { finishComment } from './finish-comment.js';
import { requireArticle } from './require-article.js';

export interface CommentDraft {
  articleId: number;
  /** The comment to answer; 0 for a comment on the article. */
  parentId: number;
  context: string;
}

/** @throws AppError COMMENT_NOT_FOUND; INVALID_INPUT for a comment that cannot be answered here */
async function requireParent({ parentId, articleId }: CommentDraft): Promise<void> {
  const parent = await Comment.findOne(
    { _id: parentId, state: 'live' },
    { articleId: 1, parentId: 1 },
  ).lean();
  if (!parent) throw new AppError('COMMENT_NOT_FOUND', `parentId: there is no comment ${parentId}`);
  if (parent.articleId !== articleId) {
    throw new AppError('INVALID_INPUT', 'parentId: must be a comment of the same article');
  }
  if (parent.parentId !== 0) {
    throw new AppError('INVALID_INPUT', 'parentId: must be a comment; a reply takes no replies');
  }
}

async function storeComment(
  clock: Clock,
  actor: Actor,
  { articleId, parentId, context }: CommentDraft,
): Promise<CommentRecord> {
  const now = new Date(clock.now());
  const comment: CommentRecord = {
    _id: await nextNumbers('comment'),
    articleId,
    parentId,
    authorNo: actor.no,
    context,
    state: 'live',
    publishedAt: now,
    hearts: 0,
    heartsVersion: 0,
    repliesVersion: 0,
    pending: now,
  };
  await Comment.create(comment);
  return comment;
}

/**
 * Stores a comment or reply, counts it and notifies the author of what it answers.
 *
 * @returns its number
 * @throws AppError ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, INVALID_INPUT, QUOTA_EXCEEDED; COMMENTS_FULL if the article has its most,
 *   which comments written at the same moment may exceed
 */
export async function createComment(
  deps: Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'logger' | 'maxComments' | 'quotas'>,
  actor: Actor,
  draft: CommentDraft,
): Promise<number> {
  const { articleId, parentId } = draft;
  const { comments } = await requireArticle(articleId);
  if (comments >= deps.maxComments)
    throw new AppError('COMMENTS_FULL', `boardId: the article has ${comments} comments`);
  if (parentId !== 0) await requireParent(draft);
  const giveBack = await deps.quotas.take('comments', actor.no);
  const storing = storeComment(deps.clock, actor, draft);
  storing.catch(giveBack);
  const comment = await storing;
  if (!(await finishComment(deps, comment))) {
    // The article was deleted meanwhile, and the comment is, too.
    giveBack();
    throw new AppError('ARTICLE_NOT_FOUND');
  }
  return comment._id;
}
