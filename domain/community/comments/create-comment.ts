import type { Actor } from '../../kernel/actor.js';
import { AppError } from '../../kernel/errors.js';
import { nextNumbers } from '../../platform/sequence.model.js';
import { requireArticle } from '../articles/require-article.js';
import type { CommunityDeps } from '../community-deps.js';
import { Comment, type CommentRecord } from './comment.model.js';
import { finishComment } from './finish-comment.js';

export interface CommentDraft {
  articleId: number;
  /** The comment to answer; 0 for a comment on the article itself. */
  parentId: number;
  context: string;
}

/** @throws AppError COMMENT_NOT_FOUND, or INVALID_INPUT for one that cannot be answered here */
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

/**
 * Writes a comment or a reply, counts it and tells the member it answers.
 *
 * @returns its number
 * @throws AppError ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, INVALID_INPUT
 */
export async function createComment(
  parts: Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'logger'>,
  actor: Actor,
  draft: CommentDraft,
): Promise<number> {
  const { articleId, parentId, context } = draft;
  await requireArticle(articleId);
  if (parentId !== 0) await requireParent(draft);
  const now = new Date(parts.clock.now());
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
  // The article may have been deleted while the comment was being written.
  if (!(await finishComment(parts, comment))) throw new AppError('ARTICLE_NOT_FOUND');
  return comment._id;
}
