import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';
import { requests } from '../protocol.js';

/** Notifies a room that the member is typing; ignored unless this connection has joined it. */
export const typing = defineEvent({
  event: 'typing',
  limit: 'socketEvent',
  schema: requests.typing.request,
  async handle({ live, socket }, actor, request) {
    if (socket.rooms.has(chatRoom(request.chatNo))) live.typing(request.chatNo, actor.no, request.typing);
    return undefined;
  },
});
