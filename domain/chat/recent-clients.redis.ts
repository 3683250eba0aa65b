import type { Clock } from '../kernel/clock.js';
import { redisKeys } from '../kernel/redis-keys.js';
import { createCache } from '../platform/cache.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import { loadScript } from '../platform/redis/script.js';
import { clientKey, MAX_MEMBERS, RECENT_MS, type RecentClients } from './recent-clients.js';
import { createMemoryRecentClients } from './recent-clients.memory.js';

/** How long, in ms, touches of the member a client was last seen as are kept from Redis. */
const TOUCH_EVERY_MS = 60_000;

/** Clients whose last touch is remembered, so that most requests cost Redis nothing. */
const MAX_CLIENTS = 50_000;

/**
 * Bindings of all processes. Each keeps its own in memory, too: they answer while Redis is away, and
 * where Redis has lost them.
 *
 * @param boundFor time a binding lasts, in ms
 * @param touchEvery how often Redis is told of one that goes on, in ms
 */
export function createRedisRecentClients(
  redis: RedisConnection,
  clock: Clock,
  boundFor = RECENT_MS,
  touchEvery = TOUCH_EVERY_MS,
): RecentClients {
  const scripts = {
    touch: loadScript('domain/chat/recent-clients.touch.lua'),
    find: loadScript('domain/chat/recent-clients.find.lua'),
  };
  const local = createMemoryRecentClients(clock, MAX_CLIENTS, boundFor);
  /** Client → the member Redis was last told of. One seen in between goes through: the order counts. */
  const told = createCache<string, number>(MAX_CLIENTS, touchEvery);
  const stopListening = redis.on('back', () => told.clear());

  async function tell(key: string, memberNo: number): Promise<void> {
    const taken = await redis.ask(async (commands) => {
      await scripts.touch(commands, [redisKeys.recentClients(key)], [memberNo, boundFor, MAX_MEMBERS]);
      return true;
    });
    if (!taken) told.delete(key);
  }

  return {
    touch(client, memberNo) {
      local.touch(client, memberNo);
      const key = clientKey(client);
      if (redis.away || told.get(key) === memberNo) return;
      told.set(key, memberNo);
      void tell(key, memberNo);
    },

    async find(client) {
      const here = await local.find(client);
      const everywhere = await redis.ask((commands) =>
        scripts.find(commands, [redisKeys.recentClients(clientKey(client))], [boundFor]),
      );
      const members = ((everywhere as string[] | undefined) ?? []).map(Number);
      return [...new Set([...members, ...here])];
    },

    close: stopListening,
  };
}
