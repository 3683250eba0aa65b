import { z } from 'zod';
import { checkContent, messageFields } from '../../domain/chat/index.js';
import { id, text } from '../../domain/kernel/input.js';
import { defineEvent } from '../handle.js';

/** Sends a message; the same `clientId` again answers with the first one. (contract, section 5) */
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
    // A key space of its own: a client id can never meet the key of a pushed message.
    const clientKey = clientId === undefined ? undefined : `socket:${clientId}`;
    return { message: await domain.chat.sendMessage(actor, { ...message, clientKey }) };
  },
});
