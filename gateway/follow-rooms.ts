import type { Domain } from '../domain/domain.js';
import { chatNoOf, chatRoom, memberNoOf, memberRoom } from '../domain/kernel/socket-rooms.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import { emitHere } from './deliveries.js';
import { createRoomNews, type RoomNews } from './room-news.js';
import { createSequencer, type Sequencer } from './sequencer.js';
import type { GatewayServer } from './socket.js';

/** How often, in ms, a gateway compares its rooms with the database, for pushes that got lost between processes. */
const COMPARE_EVERY_MS = 5_000;

/**
 * How often, in ms, a process does that is alone. It loses no pushes, and looks for what became of a write by
 * itself (domain/chat/uncertain-rooms.ts); this finds what a write did later than that.
 */
const COMPARE_ALONE_EVERY_MS = 60_000;

/**
 * Compares the rooms that sockets of this process are in with the database every few seconds: what pub/sub has
 * lost reaches everybody who looks connected (contract, promise 5). When Redis is back it does so at once,
 * and then for all rooms of all members here, who get the states of rooms they are not in, too.
 *
 * @returns a function that ends it
 */
function compareRegularly(
  sequencer: Sequencer,
  news: RoomNews,
  redis: RedisConnection | undefined,
  logger: Logger,
): () => void {
  let running = false;
  let allDue = false;
  let ended = false;

  async function compare(): Promise<void> {
    if (running) return;
    running = true;
    try {
      await sequencer.compare();
      while (allDue && !ended) {
        allDue = false;
        try {
          await news.compareAll();
        } catch (error) {
          allDue = true;
          throw error;
        }
      }
    } catch (error) {
      logger.warn({ err: error }, 'rooms were not compared with the database; the next time is soon');
    } finally {
      running = false;
    }
  }

  const timer = setInterval(() => void compare(), redis ? COMPARE_EVERY_MS : COMPARE_ALONE_EVERY_MS);
  const off = redis?.on('back', () => {
    allDue = true;
    void compare();
  });
  return () => {
    ended = true;
    clearInterval(timer);
    off?.();
  };
}

/** What follows the rooms of this process's sockets. */
interface FollowedRooms {
  sequencer: Sequencer;
  news: RoomNews;
  /** Ends the comparing. */
  stop(): void;
}

/** Puts together what gives this process's sockets the messages, read positions and states of their rooms. */
export function followRooms(
  { chat }: Domain,
  io: GatewayServer,
  redis: RedisConnection | undefined,
  logger: Logger,
): FollowedRooms {
  const { adapter } = io.of('/');
  const news = createRoomNews(
    {
      read: chat.viewRoom,
      headsOf: chat.headsOf,
      isConnected: (memberNo) => adapter.rooms.has(memberRoom(memberNo)),
      connected: () => [...adapter.rooms.keys()].map(memberNoOf).filter((no) => no !== undefined),
      emit: (memberNo, view) => emitHere(adapter, memberRoom(memberNo), 'room', view),
    },
    !redis,
    logger,
  );
  const sequencer = createSequencer(
    {
      read: chat.readAfter,
      heads: chat.heads,
      entering(chatNo) {
        const head = chat.knownHead(chatNo);
        if (head) news.follow(head);
        return head;
      },
      isOccupied: (chatNo) => adapter.rooms.has(chatRoom(chatNo)),
      heard: chat.heard,
      filled: () => metrics.gapsFilled.inc(),
      emit(payload, exceptSocket) {
        const room = io.local.to(chatRoom(payload.chatNo));
        (exceptSocket ? room.except(exceptSocket) : room).emit('message', payload);
      },
      heardRead: chat.heardRead,
      emitRead(chatNo, { memberNo, seq }) {
        emitHere(adapter, chatRoom(chatNo), 'message:read', { chatNo, memberNo, seq });
      },
      compared: news.compare,
    },
    logger,
  );
  chat.followedBy(sequencer.follows);
  adapter.on('delete-room', (room: string) => {
    const [chatNo, memberNo] = [chatNoOf(room), memberNoOf(room)];
    if (chatNo !== undefined) sequencer.leave(chatNo);
    if (memberNo !== undefined) news.forget(memberNo);
  });
  return { sequencer, news, stop: compareRegularly(sequencer, news, redis, logger) };
}
