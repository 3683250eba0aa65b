import { RedisPresence } from '../../domain/chat/presence.redis.js';
import type { PresenceTimes } from '../../domain/chat/presence-times.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { connectRedis } from '../../domain/platform/redis/connection.js';
import { createOpenRooms } from '../support/open-rooms.js';
import { SIGNING_KEY } from '../support/redis.js';

/**
 * Presence in a process of its own, which a test may stop or kill. Arguments: the Redis URL and the
 * times; messages `[chatNo, memberNo, connection]` enter; published changes are sent as
 * `{ published: [chatNo, memberNo, present] }`. It lives as long as its parent is connected.
 */
const [url = '', times = ''] = process.argv.slice(2);
const redis = connectRedis(url, createLogger('silent', 'test'), SIGNING_KEY);
const presence = new RedisPresence(redis, createOpenRooms(), JSON.parse(times) as PresenceTimes);
presence.onChange((...[chatNo, memberNo, present]) =>
  process.send?.({ published: [chatNo, memberNo, present] }),
);
process.on('message', (entered: [number, number, string]) => void presence.enter(...entered));
process.on('disconnect', () => process.exit(0));
await redis.connected(5_000);
process.send?.('ready');
