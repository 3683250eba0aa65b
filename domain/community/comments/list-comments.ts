import type { Actor } from '../../kernel/actor.js';
import { readRecords } from '../../platform/mongo/records.js';
import { requireArticle } from '../articles/require-article.js';
import type { CommunityDeps } from '../community-deps.js';
import { Comment, type CommentRecord } from './comment.model.js';
import { type CommentView, presentComments } from './comment.presenter.js';

/**
 * An article's comments with their replies, oldest first.
 *
 * @param reader who asks, if known
 * @throws AppError ARTICLE_NOT_FOUND
 */
export async function listComments(
  { directory, localTime }: Pick<CommunityDeps, 'directory' | 'localTime'>,
  reader: Actor | undefined,
  articleId: number,
): Promise<CommentView[]> {
  await requireArticle(articleId);
  const comments = await readRecords<CommentRecord>(Comment, {
    articleId,
    state: { $in: ['live', 'flagged'] },
  });
  const authors = await directory.lookUp(comments.map(({ authorNo }) => authorNo));
  return presentComments(comments, { authors, reader, localTime });
}
