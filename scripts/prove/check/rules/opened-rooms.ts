import type { RoomState } from '../../history.js';
import { type Asked, at, type Rule } from '../rule.js';

/** The room of a post and of who asks about it. */
interface Opened {
  /** Author of the post. */
  creator: number;
  joiner: number;
  /** Undefined: nobody was shown it. */
  room?: number;
  ackedAt?: number;
}

export const openedRooms: Rule = {
  name: 'rooms-are-opened-once',
  says: 'Whoever asks about a post has one room with its author, however often they open it, and both list it from then on',
  source: 'docs/contract.md, section 4',
  watch(run, report) {
    /** By post and joining member. */
    const rooms = new Map<string, Opened>();
    /** Author and title of each post. */
    const sales = new Map<number, { creator: number; saleTitle: string }>();

    const keyOf = (sale: number, joiner: number) => `post ${sale} of member ${joiner}`;

    /** @returns whose room it is, as the list shows it */
    function shownAs({ room, opened }: RoomState) {
      const { creator, joiner, saleNo, saleTitle } = opened ?? run.world.room(room) ?? {};
      return { creator, joiner: joiner ?? 0, sale: saleNo ?? 0, saleTitle };
    }

    function checkOne(state: RoomState, list: string): string {
      const { creator, joiner, sale, saleTitle } = shownAs(state);
      const key = keyOf(sale, joiner);
      const shown = `${list} shows room ${state.room} about ${key}`;
      const known = rooms.get(key);
      if (!known) report(`${shown}, which nobody has opened`);
      else if (known.room !== undefined && known.room !== state.room)
        report(`${shown}; they have room ${known.room}`);
      else known.room = state.room;
      const post = sales.get(sale);
      if (post && (post.creator !== creator || post.saleTitle !== saleTitle))
        report(`${shown}, "${saleTitle}" by member ${creator}; it is "${post.saleTitle}" by ${post.creator}`);
      return key;
    }

    function checkList(states: RoomState[], asked: Asked<'rooms'>): void {
      const list = `the list of member ${asked.member}, asked for at ${at(asked.t)},`;
      const listed = new Set<string>();
      for (const state of states) {
        // Of members whose tokens the user has, there may be others.
        if (!sales.has(shownAs(state).sale)) continue;
        const key = checkOne(state, list);
        if (listed.has(key)) report(`${list} shows two rooms about ${key}`);
        listed.add(key);
      }
      for (const [key, { creator, joiner, ackedAt }] of rooms) {
        const isTheirs = creator === asked.member || joiner === asked.member;
        if (isTheirs && ackedAt !== undefined && ackedAt < asked.t && !listed.has(key))
          report(`${list} lacks the room about ${key}, acknowledged at ${at(ackedAt)}`);
      }
    }

    return {
      header(header) {
        for (const { room, creator, joiner, saleNo, saleTitle } of header.rooms) {
          rooms.set(keyOf(saleNo, joiner), { room, creator, joiner, ackedAt: 0 });
          sales.set(saleNo, { creator, saleTitle });
        }
      },
      asked(asked) {
        if (asked.f !== 'openRoom') return;
        const key = keyOf(asked.sale, asked.member);
        if (!rooms.has(key)) rooms.set(key, { creator: asked.creator, joiner: asked.member });
      },
      answered(ok, asked) {
        if (asked.f === 'openRoom') {
          const opened = rooms.get(keyOf(asked.sale, asked.member));
          if (opened) opened.ackedAt ??= ok.t;
        }
        if (ok.f === 'rooms' && asked.f === 'rooms') checkList(ok.rooms, asked);
      },
    };
  },
};
