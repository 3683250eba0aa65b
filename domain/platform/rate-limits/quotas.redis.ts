import { redisKeys } from '../../kernel/redis-keys.js';
import type { RedisConnection } from '../redis/connection.js';
import { loadScript } from '../redis/script.js';
import { type QuotaSizes, type Quotas, quotaExceeded, WINDOW_MS } from './quotas.js';
import { createMemoryQuotas } from './quotas.memory.js';

/** Quotas shared by all processes; while Redis is down, each counts alone. */
export function createRedisQuotas(redis: RedisConnection, sizes: QuotaSizes): Quotas {
  const script = loadScript('domain/platform/rate-limits/quotas.lua');
  const alone = createMemoryQuotas(sizes);
  return {
    async take(kind, memberNo) {
      const keys = [redisKeys.quota(kind, memberNo)];
      const answer = await redis.ask((commands) => script(commands, keys, ['take', sizes[kind], WINDOW_MS]));
      if (answer === undefined) return alone.take(kind, memberNo);
      const [waitMs, end = 0] = answer as [number, number?];
      if (waitMs > 0) throw quotaExceeded(sizes, kind, waitMs);
      return () => void redis.ask((commands) => script(commands, keys, ['give back', end]));
    },
  };
}
