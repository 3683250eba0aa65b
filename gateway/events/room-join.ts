import { z } from 'zod';
import { id, wholeNumber } from '../../domain/kernel/input.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';
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
      return sequencer.enter(chatNo, socket.id, async () => {
        // Closed while it waited: its end has been told, so nobody would take this back any more.
        if (!socket.connected) return NOBODY;
        const isNew = !socket.rooms.has(chatRoom(chatNo));
        // Subscribed first, then read: what is written in between comes one way or the other.
        await socket.join(chatRoom(chatNo));
        try {
          return await domain.chat.enterRoom(actor, chatNo, after, socket.id);
        } catch (error) {
          if (isNew) await socket.leave(chatRoom(chatNo));
          throw error;
        } finally {
          if (!socket.connected) {
            await socket.leave(chatRoom(chatNo));
            await domain.chat.leaveRoom(actor.no, chatNo, socket.id);
          }
        }
      });
    }),
});
