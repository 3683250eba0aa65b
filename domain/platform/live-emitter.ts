import { Server } from 'socket.io';
import type { Live } from '../kernel/live.js';
import type { RedisConnection } from './redis/connection.js';
import { type AdapterKind, createSocketAdapter } from './socket-adapter.js';
import { createSocketLive } from './socket-live.js';

/**
 * The domain's port to sockets from a process that has none: what it sends reaches the gateways over
 * the cluster's bus. A Socket.IO server that never listens, because that speaks to both adapters and
 * the emitter package only to the classic one.
 */
export function createLiveEmitter(redis: RedisConnection, kind: AdapterKind): Live {
  const io = new Server({ adapter: createSocketAdapter(redis, kind) as never });
  return createSocketLive({
    send: (room, event, payload, note) =>
      io.to(room).emit(event, ...(note === undefined ? [payload] : [payload, note])),
    sendHere() {},
    isIn: () => false,
    leave() {},
  });
}
