import { createCache } from '../platform/async/cache.js';
import { MAX_ROOMS, RECENT_MS, type RecentClients, type Shown } from './recent-clients.js';

/** A member at a client. There may be very many of them: none holds more than it needs. */
interface Seen {
  /** Rises with every touch: two may fall into one millisecond. */
  readonly turn: number;
  /** Rooms up to this number were listed. */
  readonly upTo: number;
  /** Opened rooms, the latest last. */
  readonly rooms: readonly number[];
}

const NEVER: Seen = { turn: 0, upTo: 0, rooms: [] };

/** A plain string: one put together by `+` would stay in memory beside its parts. */
const keyOf = (client: string, memberNo: number) => [client, memberNo].join(' ');

/** The latest MAX_ROOMS of both, a room once. */
function latest(rooms: readonly number[], later: readonly number[]): readonly number[] {
  const all = later.length === 0 ? rooms : [...new Set([...rooms, ...later].reverse())].reverse();
  return all.length > MAX_ROOMS ? all.slice(-MAX_ROOMS) : all;
}

/** A member at a client, as it is remembered. */
interface Remembered extends Required<Shown> {
  client: string;
  memberNo: number;
  /** For how long from now on, ms. */
  forMs: number;
}

interface MemoryRecentClients extends RecentClients {
  /** All that are remembered, the one touched last at the end. */
  all(): Remembered[];
}

/**
 * @param max members at clients remembered
 * @param recentFor how long a member is remembered, ms
 */
export function createMemoryRecentClients(max = 100_000, recentFor = RECENT_MS): MemoryRecentClients {
  const members = createCache<string, Seen>(max, recentFor);
  let turn = 0;

  return {
    touch(client, memberNo, { upTo = 0, rooms = [] } = {}) {
      const key = keyOf(client, memberNo);
      const seen = members.get(key) ?? NEVER;
      turn += 1;
      members.set(key, { turn, upTo: Math.max(seen.upTo, upTo), rooms: latest(seen.rooms, rooms) });
    },

    async find(client, chatNo, memberNos) {
      return memberNos
        .map((memberNo) => ({ memberNo, seen: members.get(keyOf(client, memberNo)) ?? NEVER }))
        .filter(({ seen }) => seen.upTo >= chatNo || seen.rooms.includes(chatNo))
        .sort((a, b) => b.seen.turn - a.seen.turn)
        .map(({ memberNo }) => memberNo);
    },

    all: () =>
      [...members.entries()]
        .sort(([, a], [, b]) => a.turn - b.turn)
        .map(([key, { upTo, rooms }]) => {
          const end = key.lastIndexOf(' ');
          const forMs = Math.ceil(members.getRemainingTTL(key));
          return {
            client: key.slice(0, end),
            memberNo: Number(key.slice(end + 1)),
            forMs,
            upTo,
            rooms: [...rooms],
          };
        })
        .filter(({ forMs }) => forMs > 0),

    close() {},
  };
}
