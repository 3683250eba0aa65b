import { z } from 'zod';
import { checkContent, messageFields } from '../../domain/chat/index.js';
import { id, text } from '../../domain/kernel/input.js';
import { defineEvent } from '../handle.js';

/** Sends a message; the same `clientId` again is answered with the first one. (contract, section 5) */
export const messageSend = defineEvent({
  event: 'message:send',
  limit: 'message',
  schema: z
    .object({
      chatNo: id,
      ...messageFields,
      clientId: text(64).optional(),
    })
    .superRefine(checkContent),
  async handle({ domain }, actor, { clientId, ...message }) {
    // The prefix keeps client ids apart from the keys of pushed messages.
    const clientKey = clientId === undefined ? undefined : `socket:${clientId}`;
    return { message: await domain.chat.sendMessage(actor, { ...message, clientKey }) };
  },
});
