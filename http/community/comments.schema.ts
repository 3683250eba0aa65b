import { z } from 'zod';
import { id, pathId, text, wholeNumber } from '../../domain/kernel/input.js';

/** Most characters a comment may have. */
const MAX_CONTEXT = 2_000;

/** An article's number to list its comments, a comment's to delete it: one name, as it is one path. */
export const commentsPath = z.object({ id: pathId });

export const commentBody = z.object({
  /** The article. */
  boardId: id,
  /** null, 0 or absent: a comment on the article itself. (contract, section 3) */
  parentId: wholeNumber()
    .nullish()
    .transform((parentId) => parentId ?? 0),
  context: text(MAX_CONTEXT),
});

export const commentChange = z.object({ id, context: text(MAX_CONTEXT) });
