import type { Entered } from '../../domain/chat/index.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { metrics, secondsSince } from '../../domain/platform/observe/metrics.js';
import { leaveChatRoom } from '../connection/leave-chat-room.js';
import type { GatewaySocket } from '../connection/socket.js';
import { requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** The answer to a connection that has closed meanwhile; `seq` -1: nobody entered. */
const NOBODY = {
  messages: [],
  from: 'newest' as const,
  more: false,
  seq: -1,
  present: [],
  otherRead: { memberNo: 0, seq: 0, others: 0 },
};

/**
 * Sends how far the other participant has read the messages that the connection had already, by `after`;
 * those of the answer carry it themselves.
 */
function sendRead(
  socket: GatewaySocket,
  chatNo: number,
  after: number,
  { memberNo, seq }: Entered['otherRead'],
): void {
  const upTo = Math.min(seq, after);
  // After the answer, which leaves in this turn of the event loop, and before what waits for the next one.
  if (upTo > 0) process.nextTick(() => socket.emit('message:read', { chatNo, memberNo, seq: upTo }));
}

/** Enters a chat room and catches up. (contract, section 5) */
export const roomJoin = defineEvent({
  event: 'room:join',
  limit: 'socketEvent',
  schema: requests['room:join'].request,
  inOrder: true,
  async handle({ domain, sequencer, socket, arrivedAt }, actor, { chatNo, ...had }) {
    await domain.chat.requireParticipant(actor, chatNo);
    const wasIn = socket.rooms.has(chatRoom(chatNo));
    try {
      const { otherRead, ...answer } = await sequencer.enter(chatNo, socket.id, async () => {
        if (!socket.connected) return NOBODY;
        // Join, then read: what is written in between is read, or else pushed.
        await socket.join(chatRoom(chatNo));
        return domain.chat.enterRoom(actor, chatNo, had, socket.id);
      });
      domain.chat.noteClient(socket.data.client, actor.no, { rooms: [chatNo] });
      const { after } = had;
      if (answer.from === 'after' && after !== undefined && !wasIn)
        sendRead(socket, chatNo, after, otherRead);
      const kind = after === undefined ? 'open' : wasIn ? 'read-on' : 'resume';
      metrics.catchUps.observe({ kind }, secondsSince(arrivedAt));
      metrics.caughtUp.inc({ kind }, answer.messages.length);
      return answer;
    } catch (error) {
      if (!wasIn) await leaveChatRoom(domain, socket, chatNo);
      throw error;
    }
  },
});
