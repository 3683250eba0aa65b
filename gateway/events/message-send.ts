import { comparable } from '../../domain/kernel/same-text.js';
import { beginStages } from '../../domain/platform/observe/message-stages.js';
import { requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** Sends a message; the same `clientId` again is answered with the first one. (contract, section 5) */
export const messageSend = defineEvent({
  event: 'message:send',
  limit: 'message',
  schema: requests['message:send'].request,
  async handle({ domain, arrivedAt }, actor, { chatNo, contentType, content, clientId }) {
    // The prefix keeps client ids apart from the keys of pushed messages.
    const clientKey = clientId === undefined ? undefined : `socket:${comparable(clientId)}`;
    const stages = beginStages(arrivedAt);
    return {
      message: await domain.chat.sendMessage(actor, { chatNo, contentType, content, clientKey, stages }),
    };
  },
});
