import { createRedisPresence, type PresenceTimes } from '../../domain/chat/presence.redis.js';
import { createLogger } from '../../domain/platform/logger.js';
import { connectRedis } from '../../domain/platform/redis/connection.js';
import { createOpenRooms } from '../support/open-rooms.js';

/**
 * Presence in a process of its own, which a test may stop or kill. Arguments: the Redis URL and the
 * times; messages `[chatNo, memberNo, connection]` enter; what its listener is told is sent as
 * `{ told: [chatNo, memberNo, present] }`. It lives as long as its parent is connected.
 */
const [url = '', times = ''] = process.argv.slice(2);
const redis = connectRedis(url, createLogger('silent', 'test'));
const presence = createRedisPresence(redis, createOpenRooms(), JSON.parse(times) as PresenceTimes);
presence.watch((...[chatNo, memberNo, present]) => process.send?.({ told: [chatNo, memberNo, present] }));
process.on('message', (entered: [number, number, string]) => void presence.enter(...entered));
process.on('disconnect', () => process.exit(0));
await redis.connected(5_000);
process.send?.('ready');
