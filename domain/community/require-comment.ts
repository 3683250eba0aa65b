import { AppError } from '../kernel/errors.js';
import { Article } from './article.model.js';
import { Comment } from './comment.model.js';

/**
 * The live comment with this number.
 * @throws AppError COMMENT_NOT_FOUND if there is none, or it or its article was deleted
 */
export async function requireComment(
  commentId: number,
): Promise<{ _id: number; articleId: number; authorNo: number }> {
  const comment = await Comment.findOne(
    { _id: commentId, state: 'live' },
    { articleId: 1, authorNo: 1 },
  ).lean();
  if (!comment) throw new AppError('COMMENT_NOT_FOUND');
  const article = await Article.findOne({ _id: comment.articleId, state: 'live' }, { _id: 1 }).lean();
  if (!article) throw new AppError('COMMENT_NOT_FOUND', 'its article was deleted');
  return comment;
}
