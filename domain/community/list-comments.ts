import type { Actor } from '../kernel/actor.js';
import { fitting, MAX_LIST_BYTES } from '../kernel/list-size.js';
import { readShownComments } from './comment.model.js';
import { type CommentView, presentComments } from './comment.presenter.js';
import type { CommunityDeps } from './community-deps.js';
import { requireArticle } from './require-article.js';

/**
 * An article's comments with their replies, oldest first, as many as fit.
 *
 * @param reader the caller, if known
 * @throws AppError ARTICLE_NOT_FOUND
 */
export async function listComments(
  { directory, localTime, maxComments }: Pick<CommunityDeps, 'directory' | 'localTime' | 'maxComments'>,
  reader: Actor | undefined,
  articleId: number,
): Promise<CommentView[]> {
  await requireArticle(articleId);
  // Each flagged comment has a live reply.
  const comments = await readShownComments(articleId, 2 * maxComments);
  const authors = await directory.lookUp(comments.map(({ authorNo }) => authorNo));
  const shown = fitting(comments, MAX_LIST_BYTES, (comment) => [comment, authors.get(comment.authorNo)]);
  return presentComments(shown, { authors, reader, localTime });
}
