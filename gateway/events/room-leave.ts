import { leaveChatRoom } from '../connection/leave-chat-room.js';
import { requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** Leaves a chat room with this connection; no effect if it is not in the room. */
export const roomLeave = defineEvent({
  event: 'room:leave',
  limit: 'socketEvent',
  schema: requests['room:leave'].request,
  inOrder: true,
  async handle({ domain, socket }, actor, { chatNo }) {
    await domain.chat.requireParticipant(actor, chatNo);
    await leaveChatRoom(domain, socket, chatNo);
    return undefined;
  },
});
