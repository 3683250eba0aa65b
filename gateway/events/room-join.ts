import type { Entered } from '../../domain/chat/index.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';
import { leaveChatRoom } from '../leave-chat-room.js';
import { requests } from '../protocol.js';
import type { GatewaySocket } from '../socket.js';
import { enqueue } from '../socket-queue.js';

/** Of a connection that is gone: there is nothing to tell it, and no number up to which it was told. */
const NOBODY = { messages: [], more: false, seq: -1, present: [], otherRead: { memberNo: 0, seq: 0 } };

/**
 * Tells a connection up to which of the messages it had already, by `after`, the other participant has read by
 * now; those of its answer say so themselves.
 */
function tellRead(
  socket: GatewaySocket,
  chatNo: number,
  after: number,
  { memberNo, seq }: Entered['otherRead'],
): void {
  const upTo = Math.min(seq, after);
  // Behind the answer, which leaves in this turn of the event loop, and before what waits for the next one.
  if (upTo > 0) process.nextTick(() => socket.emit('message:read', { chatNo, memberNo, seq: upTo }));
}

/** Enters a chat room and catches up. (contract, section 5) */
export const roomJoin = defineEvent({
  event: 'room:join',
  limit: 'socketEvent',
  schema: requests['room:join'].request,
  handle: ({ domain, sequencer, socket }, actor, { chatNo, after }) =>
    enqueue(socket, async () => {
      await domain.chat.requireParticipant(actor, chatNo);
      const wasIn = socket.rooms.has(chatRoom(chatNo));
      try {
        const { otherRead, ...answer } = await sequencer.enter(chatNo, socket.id, async () => {
          // Closed while it waited.
          if (!socket.connected) return NOBODY;
          // Subscribed first, then read: what is written in between comes one way or the other.
          await socket.join(chatRoom(chatNo));
          return domain.chat.enterRoom(actor, chatNo, after, socket.id);
        });
        if (after !== undefined && !wasIn) tellRead(socket, chatNo, after, otherRead);
        return answer;
      } catch (error) {
        if (!wasIn) await leaveChatRoom(domain, socket, chatNo);
        throw error;
      }
    }),
});
