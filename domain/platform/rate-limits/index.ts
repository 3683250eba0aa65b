import type { RedisConnection } from '../redis/connection.js';
import type { RateLimits } from './rate-limits.js';
import { createMemoryRateLimits } from './rate-limits.memory.js';
import { createRedisRateLimits } from './rate-limits.redis.js';

export type { Budget, RateLimits } from './rate-limits.js';

/**
 * @param on false disables all limits: load tests, closed networks
 * @param redis in which processes count together; without it each counts alone
 */
export function createRateLimits(on: boolean, redis?: RedisConnection): RateLimits {
  if (!on) return { take: async () => {} };
  return redis ? createRedisRateLimits(redis) : createMemoryRateLimits();
}
