import { z } from 'zod';
import { id } from '../../domain/kernel/input.js';
import { defineEvent } from '../handle.js';
import { chatRoom } from '../rooms.js';

/** Enters a chat room and catches up. (contract, section 5) */
export const roomJoin = defineEvent({
  event: 'room:join',
  limit: 'socketEvent',
  schema: z.object({
    chatNo: id,
    after: z.int('must be a whole number').min(0, 'must not be negative').optional(),
  }),
  handle: ({ domain, socket }, actor, { chatNo, after }) =>
    domain.chat.enterRoom(actor, chatNo, after, socket.id, () => socket.join(chatRoom(chatNo))),
});
