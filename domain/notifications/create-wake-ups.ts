import type { RedisConnection } from '../platform/redis.js';
import type { WakeUps } from './wake-ups.js';
import { createMemoryWakeUps } from './wake-ups.memory.js';
import { createRedisWakeUps } from './wake-ups.redis.js';

/** @param redis through which processes wake each other; without it this one wakes its own streams alone */
export function createWakeUps(redis?: RedisConnection): WakeUps {
  return redis ? createRedisWakeUps(redis) : createMemoryWakeUps();
}
