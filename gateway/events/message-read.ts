import { requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** Moves the read position forward; an older one, or one past the newest message, is not an error. */
export const messageRead = defineEvent({
  event: 'message:read',
  limit: 'socketEvent',
  schema: requests['message:read'].request,
  async handle({ domain }, actor, { chatNo, seq }) {
    await domain.chat.markRead(actor, chatNo, seq);
    return undefined;
  },
});
