import { setTimeout as sleep } from 'node:timers/promises';
import { redisKeys } from '../kernel/redis-keys.js';
import { createCache } from '../platform/async/cache.js';
import { joinNext } from '../platform/async/shared-runs.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';
import { MAX_ROOMS, RECENT_MS, type RecentClients, type Shown } from './recent-clients.js';
import { createMemoryRecentClients } from './recent-clients.memory.js';

/** Interval, ms, at which a member and a room shown to them reach Redis again. */
const TOUCH_EVERY_MS = 60_000;

/** Clients whose last touches are remembered, so that most requests cost Redis nothing. */
const MAX_CLIENTS = 50_000;

/** Touches repeated at a time after Redis has lost them. */
const REPEATED_AT_ONCE = 100;

/** Least pause before all are repeated again, ms, and as a multiple of how long it took. */
const REPEAT_PAUSE_MS = 5_000;
const REPEAT_PAUSE = 9;

/** The member last seen from a client, and what Redis has been told since they came or in the last TOUCH_EVERY_MS. */
interface Told {
  memberNo: number;
  upTo: number;
  rooms: Set<number>;
}

/**
 * Recent clients of all processes. Each process also keeps its own in memory, for outages of Redis, and writes them again where
 * it has lost its data.
 *
 * @param recentFor how long a member is remembered, ms
 */
export function createRedisRecentClients(
  redis: RedisConnection,
  recentFor = RECENT_MS,
  touchEvery = TOUCH_EVERY_MS,
): RecentClients {
  const script = loadScript('domain/chat/recent-clients.lua');
  const local = createMemoryRecentClients(MAX_CLIENTS, recentFor);
  /** By client. Another member's touch is sent at once: the order matters. */
  const touched = createCache<string, Told>(MAX_CLIENTS, touchEvery);

  async function touchInRedis(
    client: string,
    memberNo: number,
    { upTo, rooms }: Required<Shown>,
    forMs = recentFor,
  ): Promise<void> {
    const isTouched = await redis.ask(async (commands) => {
      const args = ['touch', forMs, MAX_ROOMS, upTo, recentFor - forMs, ...rooms];
      await script(commands, [redisKeys.recentClients(client, memberNo)], args);
      return true;
    });
    if (!isTouched) touched.delete(client);
  }

  /** Tells Redis again whom this process has seen: after an interruption it may have forgotten them. */
  const repeat = joinNext<void, void>(async () => {
    const startedAt = performance.now();
    const all = local.all();
    while (all.length > 0 && !redis.down) {
      const some = all.splice(0, REPEATED_AT_ONCE);
      await Promise.all(some.map((one) => touchInRedis(one.client, one.memberNo, one, one.forMs)));
    }
    // It may be evicting keys all the time.
    const took = performance.now() - startedAt;
    await sleep(Math.max(REPEAT_PAUSE_MS, REPEAT_PAUSE * took), undefined, { ref: false });
  });

  /** Those whose key holds the room, last seen first. */
  async function findInRedis(client: string, chatNo: number, memberNos: number[]): Promise<number[]> {
    const times = await redis.ask((commands) =>
      Promise.all(
        memberNos.map((memberNo) =>
          script(commands, [redisKeys.recentClients(client, memberNo)], ['find', chatNo]),
        ),
      ),
    );
    return memberNos
      .map((memberNo, i) => ({ memberNo, at: Number(times?.[i] ?? 0) }))
      .filter(({ at }) => at > 0)
      .sort((a, b) => b.at - a.at)
      .map(({ memberNo }) => memberNo);
  }

  const listening = (['up', 'stores', 'lost'] as const).map((event) => redis.on(event, () => void repeat()));
  return {
    touch(client, memberNo, { upTo = 0, rooms: all = [] } = {}) {
      const rooms = all.slice(-MAX_ROOMS);
      local.touch(client, memberNo, { upTo, rooms });
      const last = touched.get(client);
      const told = last?.memberNo === memberNo ? last : { memberNo, upTo: 0, rooms: new Set<number>() };
      const isKnown = told === last && upTo <= told.upTo && rooms.every((chatNo) => told.rooms.has(chatNo));
      if (redis.down || isKnown) return;
      told.upTo = Math.max(told.upTo, upTo);
      for (const chatNo of rooms) told.rooms.add(chatNo);
      // Redis forgets the rooms opened before the latest MAX_ROOMS: they are to be told again.
      if (told.rooms.size > MAX_ROOMS) told.rooms = new Set(rooms);
      if (told !== last) touched.set(client, told);
      void touchInRedis(client, memberNo, { upTo, rooms });
    },

    async find(client, chatNo, memberNos) {
      const here = await local.find(client, chatNo, memberNos);
      const everywhere = await findInRedis(client, chatNo, memberNos);
      return [...new Set([...everywhere, ...here])];
    },

    close() {
      for (const off of listening) off();
    },
  };
}
