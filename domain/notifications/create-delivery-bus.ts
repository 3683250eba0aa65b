import type { RedisConnection } from '../platform/redis/connection.js';
import type { DeliveryBus } from './delivery-bus.js';
import { createMemoryDeliveryBus } from './delivery-bus.memory.js';
import { createRedisDeliveryBus } from './delivery-bus.redis.js';

/** @param redis through which processes wake each other; without it this one wakes its own streams alone */
export function createDeliveryBus(redis?: RedisConnection): DeliveryBus {
  return redis ? createRedisDeliveryBus(redis) : createMemoryDeliveryBus();
}
