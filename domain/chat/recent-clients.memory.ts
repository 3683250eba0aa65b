import type { Clock } from '../kernel/clock.js';
import { createCache } from '../platform/cache.js';
import { MAX_ROOMS, RECENT_MS, type RecentClients } from './recent-clients.js';

/** A member at a client. */
interface Seen {
  /** Epoch ms. */
  at: number;
  /** Rises with every touch: two may fall into one millisecond. */
  turn: number;
  /** Rooms up to this number were listed. */
  upTo: number;
  /** Opened rooms, the latest last. */
  rooms: Set<number>;
}

/**
 * @param max members at clients remembered
 * @param recentFor how long a member is remembered, ms
 */
export function createMemoryRecentClients(clock: Clock, max = 100_000, recentFor = RECENT_MS): RecentClients {
  const members = createCache<string, Seen>(max);
  let turn = 0;

  function recent(key: string): Seen | undefined {
    const seen = members.get(key);
    return seen && seen.at > clock.now() - recentFor ? seen : undefined;
  }

  return {
    touch(client, memberNo, { upTo = 0, rooms = [] } = {}) {
      const key = `${client}${memberNo}`;
      const seen = recent(key) ?? { at: 0, turn: 0, upTo: 0, rooms: new Set() };
      turn += 1;
      seen.at = clock.now();
      seen.turn = turn;
      seen.upTo = Math.max(seen.upTo, upTo);
      for (const chatNo of rooms) {
        seen.rooms.delete(chatNo);
        seen.rooms.add(chatNo);
      }
      for (const chatNo of seen.rooms) if (seen.rooms.size > MAX_ROOMS) seen.rooms.delete(chatNo);
      members.set(key, seen);
    },

    async find(client, chatNo, memberNos) {
      return memberNos
        .map((memberNo) => ({ memberNo, seen: recent(`${client}${memberNo}`) }))
        .filter(({ seen }) => seen && (seen.upTo >= chatNo || seen.rooms.has(chatNo)))
        .sort((a, b) => (b.seen?.turn ?? 0) - (a.seen?.turn ?? 0))
        .map(({ memberNo }) => memberNo);
    },

    close() {},
  };
}
