import type { Domain } from '../../domain/domain.js';
import { ROOM_INTERVAL_MS } from '../../domain/kernel/live.js';
import { chatNoOf, chatRoom, memberNoOf, memberRoom } from '../../domain/kernel/socket-rooms.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import type { GatewayServer } from '../connection/socket.js';
import type { Publisher } from '../engine/engine.js';
import { RoomComparer } from './compare-rooms.js';
import { RoomViews } from './room-views.js';
import { Sequencer } from './sequencer.js';

/** Follows the rooms of this process's sockets: their messages, read positions and states. */
export function followRooms(
  { chat, reports }: Pick<Domain, 'chat' | 'reports'>,
  io: GatewayServer,
  publisher: Pick<Publisher, 'event'>,
  redis: RedisConnection | undefined,
  logger: Logger,
): { sequencer: Sequencer; views: RoomViews; comparer: RoomComparer } {
  const { adapter } = io.of('/');
  const views = new RoomViews({
    read: chat.viewRoom,
    headsOf: chat.headsOf,
    isConnected: (memberNo) => adapter.rooms.has(memberRoom(memberNo)),
    connected: () => [...adapter.rooms.keys()].map(memberNoOf).filter((no) => no !== undefined),
    emit: (memberNo, view) => publisher.event(memberRoom(memberNo), 'room', view),
    shared: redis !== undefined,
    intervalMs: ROOM_INTERVAL_MS,
    logger,
  });
  const sequencer = new Sequencer({
    read: chat.readAfter,
    entering(chatNo) {
      const head = chat.knownHead(chatNo);
      if (head) views.follow(head);
      return head;
    },
    isOccupied: (chatNo) => adapter.rooms.has(chatRoom(chatNo)),
    emit(payload, exceptSocket) {
      const room = chatRoom(payload.chatNo);
      if (exceptSocket) io.local.to(room).except(exceptSocket).emit('message', payload);
      else publisher.event(room, 'message', payload);
    },
    emitRead(chatNo, { memberNo, seq }) {
      publisher.event(chatRoom(chatNo), 'message:read', { chatNo, memberNo, seq });
    },
    noteMessage: chat.noteMessage,
    noteRead: chat.noteRead,
    filled(chatNo) {
      metrics.gapsFilled.inc();
      comparer.compareSoon(chatNo);
    },
    logger,
  });
  const comparer = new RoomComparer({ heads: chat.heads, sequencer, views, redis, reports, logger });
  adapter.on('create-room', (room: string) => {
    if (chatNoOf(room) !== undefined) metrics.rooms.inc();
    else if (memberNoOf(room) !== undefined) metrics.members.inc();
  });
  adapter.on('delete-room', (room: string) => {
    const [chatNo, memberNo] = [chatNoOf(room), memberNoOf(room)];
    if (chatNo !== undefined) {
      metrics.rooms.dec();
      sequencer.leave(chatNo);
    }
    if (memberNo !== undefined) {
      metrics.members.dec();
      views.forget(memberNo);
    }
  });
  return { sequencer, views, comparer };
}
