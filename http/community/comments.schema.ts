import { z } from 'zod';
import type { CommentView } from '../../domain/community/index.js';
import { id, pathId, text, wholeNumber } from '../../domain/kernel/input.js';
import { articleId, publishedAt } from './articles.schema.js';

/** Most characters a comment may have. */
export const MAX_CONTEXT = 2_000;

const example = 'Congratulations!';
const context = text(MAX_CONTEXT).meta({ description: 'comment text', example });

/** An article's number to list its comments, a comment's to delete it: one path, so one name. */
export const commentsPath = z.object({ id: articleId });
export const commentPath = z.object({
  id: pathId.meta({ description: 'comment identifier', example: 31 }),
});

export const commentBody = z.object({
  boardId: id.meta({ description: 'the article', example: 1 }),
  // (contract, section 3)
  parentId: wholeNumber()
    .nullish()
    .transform((parentId) => parentId ?? 0)
    .meta({
      description: 'the comment to reply to; null, 0 or absent: a comment on the article itself',
      example: 0,
    }),
  context,
});

export const commentChange = z.object({
  id: id.meta({ description: 'comment identifier', example: 31 }),
  context,
});

const shown = {
  mine: z.boolean().meta({ description: 'whether the requesting member is the author' }),
  id: z.int().meta({ description: 'comment identifier', example: 31 }),
  author: z.string().meta({ description: 'author nickname', example: 'Minji' }),
  authorId: z.int().meta({ description: 'author member identifier', example: 3 }),
  context: z.string().meta({ description: 'comment text; empty once deleted', example }),
  profile: z.string().meta({ description: 'author profile image URL', example: 'profile/minji.png' }),
  publishedAt,
  like: z.int().meta({ description: 'like count', example: 2 }),
  deleteStatus: z.int().meta({ description: '0 live, 1 deleted, 2 its author has left', enum: [0, 1, 2] }),
  blindStatus: z.int().meta({ description: '0 shown, 1 hidden, 2 hidden for now', enum: [0, 1, 2] }),
};

const type = z.int().meta({ description: '0 comment, 1 reply' });

const reply = z
  .object({ type: type.meta({ const: 1 }), ...shown })
  .meta({ id: 'Reply', description: 'A reply to a comment: a comment without replies of its own.' });

/** Interface, "Comment". */
const comment = z
  .object({
    type: type.meta({ const: 0 }),
    ...shown,
    comments: z.array(reply).meta({ description: 'replies to this comment, oldest first' }),
  })
  .meta({ id: 'Comment', description: 'A comment on an article.' }) satisfies z.ZodType<CommentView>;

export const commentList = z.array(comment).meta({ description: 'comments, oldest first' });
