import { z } from 'zod';
import { no, operation, text } from './operation.js';
import { canonical, shortHash, take } from './rest.js';

/** The hash of a post as the map renders it, without its number. */
export const hashOfPost = (record: object): string => shortHash(canonical(record));

export const adoptionOperations = {
  /** The posts that the run's rooms are about, in the order of the list, each with its hash. */
  render: operation({
    asked: {},
    answered: { posts: z.array(z.object({ sale: no, hash: text })) },
    read(answer, { world }) {
      if (!Array.isArray(answer)) return { kept: { posts: [] }, rest: [answer] };
      const posts = answer.flatMap((view) => {
        const [{ id }, rest] = take(view, { id: 'int' });
        return world.isSale(id) ? [{ sale: id, hash: hashOfPost(rest) }] : [];
      });
      return { kept: { posts }, rest: [] };
    },
    rest: () => [],
  }),

  /** Who the token's member is; the tokens of a run grant no role. */
  me: operation({
    asked: {},
    answered: {},
    read: (answer) => ({ kept: {}, rest: [answer] }),
    rest: ({ world, member }) => [
      { memberNo: member, nickname: world.member(member)?.nickname, role: 'USER' },
    ],
  }),
};
