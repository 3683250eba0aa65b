import type { Clock } from '../kernel/clock.js';
import { redisKeys } from '../kernel/redis-keys.js';
import { createCache } from '../platform/cache.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';
import { clientHash, MAX_MEMBERS, RECENT_MS, type RecentClients } from './recent-clients.js';
import { createMemoryRecentClients } from './recent-clients.memory.js';

/** Interval at which repeated touches by the same member reach Redis, ms. */
const TOUCH_EVERY_MS = 60_000;

/** Clients whose last touch is remembered, so that most requests cost Redis nothing. */
const MAX_CLIENTS = 50_000;

/**
 * Recent clients of all processes. Each process also keeps its own in memory, for outages and data loss of
 * Redis.
 *
 * @param recentFor how long a member is remembered, ms
 */
export function createRedisRecentClients(
  redis: RedisConnection,
  clock: Clock,
  recentFor = RECENT_MS,
  touchEvery = TOUCH_EVERY_MS,
): RecentClients {
  const script = loadScript('domain/chat/recent-clients.lua');
  const local = createMemoryRecentClients(clock, MAX_CLIENTS, recentFor);
  /** Client → the member last touched in Redis. A different one is sent at once: the order matters. */
  const touched = createCache<string, number>(MAX_CLIENTS, touchEvery);

  async function touchInRedis(key: string, memberNo: number): Promise<void> {
    const isTouched = await redis.ask(async (commands) => {
      const args = ['touch', recentFor, memberNo, MAX_MEMBERS];
      await script(commands, [redisKeys.recentClients(key)], args);
      return true;
    });
    if (!isTouched) touched.delete(key);
  }

  return {
    touch(client, memberNo) {
      local.touch(client, memberNo);
      const key = clientHash(client);
      if (redis.down || touched.get(key) === memberNo) return;
      touched.set(key, memberNo);
      void touchInRedis(key, memberNo);
    },

    async find(client) {
      const here = await local.find(client);
      const everywhere = await redis.ask((commands) =>
        script(commands, [redisKeys.recentClients(clientHash(client))], ['find', recentFor]),
      );
      const members = ((everywhere as string[] | undefined) ?? []).map(Number);
      return [...new Set([...members, ...here])];
    },

    close: redis.on('up', () => touched.clear()),
  };
}
