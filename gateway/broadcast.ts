import type { Live } from '../domain/kernel/live.js';
import { metrics } from '../domain/platform/metrics.js';
import type { ServerEvents } from './protocol.js';
import { chatRoom, memberRoom } from './rooms.js';
import type { GatewayServer } from './server.js';

type EventName = keyof ServerEvents;

/**
 * The one caller of `io.to`. A broadcast goes to exactly one room and leaves nobody out, because only
 * that form becomes a native uWebSockets.js publish, at a fifth of the cost of sending to each socket;
 * a sender knows its own message by `clientId`. The native path passes no Socket.IO hook, so it is
 * counted here.
 */
export interface Broadcast extends Live {
  typing(chatNo: number, memberNo: number, typing: boolean): void;
}

export function createBroadcast(io: GatewayServer): Broadcast {
  function send<K extends EventName>(room: string, event: K, ...args: Parameters<ServerEvents[K]>): void {
    metrics.broadcasts.inc({ event });
    io.to(room).emit(event, ...(args as never));
  }

  return {
    message: (payload) => send(chatRoom(payload.chatNo), 'message', payload),
    messageRead: (chatNo, memberNo, seq) => send(chatRoom(chatNo), 'message:read', { chatNo, memberNo, seq }),
    presence: (chatNo, memberNo, present) =>
      send(chatRoom(chatNo), 'presence', { chatNo, memberNo, present }),
    typing: (chatNo, memberNo, typing) => send(chatRoom(chatNo), 'typing', { chatNo, memberNo, typing }),
    room: (memberNo, view) => send(memberRoom(memberNo), 'room', view),
    notification: (memberNo, view) => send(memberRoom(memberNo), 'notification', view),
    leaveRoom: (chatNo, memberNo) => io.in(memberRoom(memberNo)).socketsLeave(chatRoom(chatNo)),
  };
}
