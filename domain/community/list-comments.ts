import type { Actor } from '../kernel/actor.js';
import { readShownComments } from './comment.model.js';
import { type CommentView, presentComments } from './comment.presenter.js';
import type { CommunityDeps } from './community-deps.js';
import { requireArticle } from './require-article.js';

/**
 * An article's comments with their replies, oldest first.
 *
 * @param reader the caller, if known
 * @throws AppError ARTICLE_NOT_FOUND
 */
export async function listComments(
  { directory, localTime }: Pick<CommunityDeps, 'directory' | 'localTime'>,
  reader: Actor | undefined,
  articleId: number,
): Promise<CommentView[]> {
  await requireArticle(articleId);
  const comments = await readShownComments(articleId);
  const authors = await directory.lookUp(comments.map(({ authorNo }) => authorNo));
  return presentComments(comments, { authors, reader, localTime });
}
