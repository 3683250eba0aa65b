import { z } from 'zod';
import { takeLocalTime } from './local-time.js';
import { acknowledged, forgetPicture, type Kept, no, operation, type Shaped, text } from './operation.js';
import { take, takeList } from './rest.js';
import type { World } from './world.js';

const comment = {
  id: no,
  author: no,
  content: text,
  likes: no,
  deleted: z.boolean(),
  /** The comment that it replies to. */
  parent: no.optional(),
  /** When it was written: local ms (answers/local-time.ts). */
  at: no,
};
export type SeenComment = Shaped<typeof comment>;

const target = { target: z.enum(['article', 'comment']), id: no };

/** `deleteStatus` 2 is reserved: it stays in the rest. */
function readComment(
  view: unknown,
  world: World,
  parent?: number,
): Kept<SeenComment> & { replies: unknown[] } {
  const [{ id, authorId, context, like, deleteStatus }, rest] = take(view, {
    ...{ id: 'int', authorId: 'int', context: 'text', like: 'int', deleteStatus: 'int' },
  });
  const at = takeLocalTime(rest, 'publishedAt', 'text');
  const replies = parent === undefined ? takeList(rest, 'comments') : [];
  if (deleteStatus !== 0 && deleteStatus !== 1) rest.deleteStatus = deleteStatus;
  forgetPicture(rest, world, authorId);
  const deleted = deleteStatus === 1;
  const of = parent === undefined ? {} : { parent };
  return {
    kept: { id, author: authorId, content: context, likes: like, deleted, ...of, at },
    rest: [rest],
    replies,
  };
}

const heart = operation({
  asked: target,
  answered: { count: no },
  read(answer) {
    const [{ data }, rest] = take(answer, { data: 'int' });
    return { kept: { count: data }, rest: [rest] };
  },
  rest: () => [{ status: 200 }],
});

export const communityOperations = {
  /** Comments and, after each, its replies, as they are listed. */
  comments: operation({
    asked: { article: no },
    answered: { comments: z.array(z.object(comment)) },
    read(answer, { world }) {
      if (!Array.isArray(answer)) return { kept: { comments: [] }, rest: [answer] };
      const listed = answer.flatMap((view) => {
        const one = readComment(view, world);
        return [one, ...one.replies.map((reply) => readComment(reply, world, one.kept.id))];
      });
      return { kept: { comments: listed.map(({ kept }) => kept) }, rest: listed.flatMap(({ rest }) => rest) };
    },
    rest: ({ world, member }, { comments }) =>
      comments.map(({ author, parent }) => {
        const { nickname, picture } = world.member(author) ?? {};
        const type = parent === undefined ? 0 : 1;
        return { type, mine: author === member, author: nickname, profile: picture, blindStatus: 0 };
      }),
  }),

  comment: acknowledged({ article: no, content: text, parent: no.optional() }),
  /** No two comments, nor their edits, share a content. */
  editComment: acknowledged({ article: no, comment: no, content: text }),
  uncomment: acknowledged({ article: no, comment: no }),
  heart,
  unheart: heart,
  bookmark: acknowledged({ article: no }),
  unbookmark: acknowledged({ article: no }),
};
