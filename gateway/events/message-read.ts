import { z } from 'zod';
import { id, wholeNumber } from '../../domain/kernel/input.js';
import { defineEvent } from '../handle.js';

/** Moves the read position forward; an older one, or one past the newest message, is not an error. */
export const messageRead = defineEvent({
  event: 'message:read',
  limit: 'socketEvent',
  schema: z.object({ chatNo: id, seq: wholeNumber() }),
  async handle({ domain }, actor, { chatNo, seq }) {
    await domain.chat.markRead(actor, chatNo, seq);
    return undefined;
  },
});
