import { z } from 'zod';
import { id } from '../../domain/kernel/input.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';

/** Enters a chat room and catches up. (contract, section 5) */
export const roomJoin = defineEvent({
  event: 'room:join',
  limit: 'socketEvent',
  schema: z.object({
    chatNo: id,
    after: z.int('must be a whole number').min(0, 'must not be negative').optional(),
  }),
  async handle({ domain, sequencer, socket }, actor, { chatNo, after }) {
    await domain.chat.requireParticipant(actor, chatNo);
    return sequencer.enter(chatNo, socket.id, async () => {
      const isNew = !socket.rooms.has(chatRoom(chatNo));
      // Subscribed first, then read: what is written in between comes one way or the other.
      await socket.join(chatRoom(chatNo));
      try {
        return await domain.chat.enterRoom(actor, chatNo, after, socket.id);
      } catch (error) {
        if (isNew) await socket.leave(chatRoom(chatNo));
        throw error;
      }
    });
  },
});
