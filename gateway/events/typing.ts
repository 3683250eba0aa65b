import { z } from 'zod';
import { id } from '../../domain/kernel/input.js';
import { chatRoom } from '../../domain/kernel/socket-rooms.js';
import { defineEvent } from '../handle.js';

/** Tells a room that the member is typing; dropped unless this connection has joined it. */
export const typing = defineEvent({
  event: 'typing',
  limit: 'socketEvent',
  schema: z.object({ chatNo: id, typing: z.boolean('must be true or false') }),
  async handle({ live, socket }, actor, request) {
    if (socket.rooms.has(chatRoom(request.chatNo))) live.typing(request.chatNo, actor.no, request.typing);
    return undefined;
  },
});
