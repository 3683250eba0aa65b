import { defineEvent } from '../handle.js';
import { requests } from '../protocol.js';

/** Sends a message; the same `clientId` again answers with the first one. (contract, section 5) */
export const messageSend = defineEvent({
  event: 'message:send',
  limit: 'message',
  schema: requests['message:send'].request,
  async handle({ domain }, actor, { clientId, ...message }) {
    // A key space of its own: a client id can never meet the key of a pushed message.
    const clientKey = clientId === undefined ? undefined : `socket:${clientId}`;
    return { message: await domain.chat.sendMessage(actor, { ...message, clientKey }) };
  },
});
