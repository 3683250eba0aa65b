import { AppError } from '../../domain/kernel/errors.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { NOT_JOINED, requests } from '../protocol.js';
import { defineEvent } from './handle.js';

/** Notifies a room that the member is typing. @throws AppError FORBIDDEN unless this connection has joined it */
export const typing = defineEvent({
  event: 'typing',
  limit: 'socketEvent',
  schema: requests.typing.request,
  async handle({ live, socket }, actor, request) {
    if (!socket.rooms.has(chatRoom(request.chatNo))) throw new AppError('FORBIDDEN', NOT_JOINED);
    live.typing(request.chatNo, actor.no, request.typing);
    return undefined;
  },
});
