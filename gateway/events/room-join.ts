import { z } from 'zod';
import { id, wholeNumber } from '../../domain/kernel/input.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';
import { leaveChatRoom } from '../leave-chat-room.js';
import { inTurn } from '../turns.js';

/** Of a connection that is gone: there is nothing to tell it, and no number up to which it was told. */
const NOBODY = { messages: [], more: false, seq: -1, present: [] };

/** Enters a chat room and catches up. (contract, section 5) */
export const roomJoin = defineEvent({
  event: 'room:join',
  limit: 'socketEvent',
  schema: z.object({
    chatNo: id,
    after: wholeNumber().optional(),
  }),
  handle: ({ domain, sequencer, socket }, actor, { chatNo, after }) =>
    inTurn(socket, async () => {
      await domain.chat.requireParticipant(actor, chatNo);
      const wasIn = socket.rooms.has(chatRoom(chatNo));
      try {
        return await sequencer.enter(chatNo, socket.id, async () => {
          // Closed while it waited.
          if (!socket.connected) return NOBODY;
          // Subscribed first, then read: what is written in between comes one way or the other.
          await socket.join(chatRoom(chatNo));
          return await domain.chat.enterRoom(actor, chatNo, after, socket.id);
        });
      } catch (error) {
        if (!wasIn) await leaveChatRoom(domain, socket, chatNo);
        throw error;
      }
    }),
});
