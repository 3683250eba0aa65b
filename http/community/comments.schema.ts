import { z } from 'zod';
import { id, pathId, text, wholeNumber } from '../../domain/kernel/input.js';

/** Most characters a comment may have. */
const MAX_CONTEXT = 2_000;

export const commentListPath = z.object({ articleId: pathId });

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

export const commentPath = z.object({ commentId: pathId });
