import type { Live } from '../kernel/live.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import type { Presence } from './presence.js';
import { MemoryPresence } from './presence.memory.js';
import { RedisPresence } from './presence.redis.js';
import type { RecentClients } from './recent-clients.js';
import { createMemoryRecentClients } from './recent-clients.memory.js';
import { createRedisRecentClients } from './recent-clients.redis.js';

/** What processes share that is not in the database. */
export interface ChatState {
  presence: Presence;
  recentClients: RecentClients;
  /** Whether other processes write to the same rooms: this one's copy of a room may then be outdated. */
  shared: boolean;
}

/** @param redis without it, nothing is shared */
export function createChatState(live: Live, redis?: RedisConnection): ChatState {
  if (!redis) {
    return {
      presence: new MemoryPresence(live),
      recentClients: createMemoryRecentClients(),
      shared: false,
    };
  }
  return {
    presence: new RedisPresence(redis, live),
    recentClients: createRedisRecentClients(redis),
    shared: true,
  };
}
