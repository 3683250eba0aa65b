import type { Clock } from '../kernel/clock.js';
import type { Live } from '../kernel/live.js';
import type { RedisConnection } from '../platform/redis.js';
import type { Bindings } from './bindings/bindings.js';
import { createMemoryBindings } from './bindings/bindings.memory.js';
import { createRedisBindings } from './bindings/bindings.redis.js';
import type { Presence } from './presence/presence.js';
import { createMemoryPresence } from './presence/presence.memory.js';
import { createRedisPresence } from './presence/presence.redis.js';

/** What the processes of a service know together and no database holds. */
export interface ChatState {
  presence: Presence;
  bindings: Bindings;
  /** Whether other processes write to the same rooms: what this one remembers of a room may be behind. */
  shared: boolean;
}

/**
 * @param live the sockets whose presence it is
 * @param redis where it is shared; without it this process knows its own alone
 */
export function createChatState(clock: Clock, live: Live, redis?: RedisConnection): ChatState {
  return redis
    ? {
        presence: createRedisPresence(redis, live),
        bindings: createRedisBindings(redis, clock),
        shared: true,
      }
    : { presence: createMemoryPresence(live), bindings: createMemoryBindings(clock), shared: false };
}
