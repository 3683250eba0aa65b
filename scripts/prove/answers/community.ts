import { z } from 'zod';
import { takeLocalTime } from './local-time.js';
import { acknowledged, type Kept, no, operation, type Shaped, text } from './operation.js';
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

/** Without the picture of a member whose picture is not known. @param record is changed */
function forgetUnknown(record: Record<string, unknown>, world: World, member: number): void {
  if (world.member(member)?.picture === undefined) delete record.profile;
}

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
  forgetUnknown(rest, world, authorId);
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
  article: operation({
    asked: { article: no },
    answered: { views: no, likes: no, comments: no, at: no },
    read(answer, { world, article }) {
      const [, rest] = take(answer, {});
      const [{ view, like, comment }, header] = take(rest.header, {
        view: 'int',
        like: 'int',
        comment: 'int',
      });
      const at = takeLocalTime(header, 'publishedAt', 'text');
      forgetUnknown(header, world, world.article(article)?.author ?? 0);
      return { kept: { views: view, likes: like, comments: comment, at }, rest: [{ ...rest, header }] };
    },
    rest({ world, member, article }) {
      const { author = 0, title, text, images } = world.article(article) ?? {};
      const { nickname, picture } = world.member(author) ?? {};
      return [
        {
          ...{ id: article, mine: author === member },
          header: { title, authorId: author, username: nickname, profile: picture },
          context: {
            context: text,
            imageList: images?.map(({ no, url }) => ({ imageNo: no, imageUrl: url })),
          },
        },
      ];
    },
  }),

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
  uncomment: acknowledged({ article: no, comment: no }),
  heart,
  unheart: heart,
  bookmark: acknowledged({ article: no }),
  unbookmark: acknowledged({ article: no }),
};
