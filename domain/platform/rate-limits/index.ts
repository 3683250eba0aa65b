import type { RedisConnection } from '../redis/connection.js';
import type { RateLimits } from './rate-limits.js';
import { createMemoryRateLimits } from './rate-limits.memory.js';
import { createRedisRateLimits } from './rate-limits.redis.js';

export type { Budget, RateLimits } from './rate-limits.js';

/**
 * @param on false lifts every limit: load tests, and closed networks
 * @param redis what the processes count in together; without it this one counts by itself
 */
export function createRateLimits(on: boolean, redis?: RedisConnection): RateLimits {
  if (!on) return { take: async () => {} };
  return redis ? createRedisRateLimits(redis) : createMemoryRateLimits();
}
