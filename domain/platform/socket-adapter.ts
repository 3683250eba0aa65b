import { createAdapter, createShardedAdapter } from '@socket.io/redis-adapter';
import { redisChannels } from '../kernel/redis-keys.js';
import type { RedisConnection } from './redis/connection.js';

/** Which of the two Redis adapters: `classic` for one Redis, `sharded` for Redis 7 and Redis Cluster. */
export type AdapterKind = 'classic' | 'sharded';

/**
 * The Socket.IO adapter that connects all processes over Redis. Its clients are the guarded ones of
 * platform/redis: a publish never rejects (the adapter does not await it), and a malformed message is dropped
 * (it would end the process).
 */
export function createSocketAdapter(
  redis: RedisConnection,
  kind: AdapterKind,
): ReturnType<typeof createAdapter> | ReturnType<typeof createShardedAdapter> {
  const [publisher, subscriber] = [redis.publisher(), redis.subscriber()];
  return kind === 'sharded'
    ? createShardedAdapter(publisher, subscriber, {
        channelPrefix: redisChannels.sockets,
        subscriptionMode: 'dynamic',
      })
    : createAdapter(publisher, subscriber, { key: redisChannels.sockets });
}
