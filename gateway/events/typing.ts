import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';
import { requests } from '../protocol.js';

/** Says that somebody is typing, to a room this connection has joined; elsewhere it is dropped. */
export const typing = defineEvent({
  event: 'typing',
  limit: 'socketEvent',
  schema: requests.typing.request,
  async handle({ live, socket }, actor, request) {
    if (socket.rooms.has(chatRoom(request.chatNo))) live.typing(request.chatNo, actor.no, request.typing);
    return undefined;
  },
});
