import type { Clock } from '../kernel/clock.js';
import type { Live } from '../kernel/live.js';
import type { RedisConnection } from '../platform/redis/connection.js';
import type { Presence } from './presence.js';
import { createMemoryPresence } from './presence.memory.js';
import { RedisPresence } from './presence.redis.js';
import type { RecentClients } from './recent-clients.js';
import { createMemoryRecentClients } from './recent-clients.memory.js';
import { createRedisRecentClients } from './recent-clients.redis.js';

/** What the processes of a service know together and no database holds. */
export interface ChatState {
  presence: Presence;
  recentClients: RecentClients;
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
        presence: new RedisPresence(redis, live),
        recentClients: createRedisRecentClients(redis, clock),
        shared: true,
      }
    : {
        presence: createMemoryPresence(live),
        recentClients: createMemoryRecentClients(clock),
        shared: false,
      };
}
