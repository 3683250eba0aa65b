import type { Live, MessagePayload, NotificationView, RoomMark, RoomView } from '../kernel/live.js';
import { chatRoom, memberRoom } from '../kernel/socket-rooms.js';
import { metrics } from './metrics.js';

/** What is sent to sockets, by event name. (contract, section 5) */
export interface Pushes {
  message: MessagePayload;
  'message:read': { chatNo: number; memberNo: number; seq: number };
  typing: { chatNo: number; memberNo: number; typing: boolean };
  presence: { chatNo: number; memberNo: number; present: boolean };
  room: RoomView;
  notification: NotificationView;
}

/** What gateways are told beside a payload; clients never see it. */
export interface Notes extends Record<keyof Pushes, unknown> {
  /** How many of the messages read are the other party's. */
  'message:read': number;
  /** The version of the change: they pass on none that arrives behind a later one. */
  presence: number;
  room: RoomMark;
}

/** How a process reaches sockets: its own and, through the cluster's bus, everybody's. */
export interface SocketPort {
  /** @param note for the gateways alone: what they compare and merge a state by (gateway/deliveries.ts) */
  send<K extends keyof Pushes>(room: string, event: K, payload: Pushes[K], note?: Notes[K]): void;
  /** To this process's own sockets alone. */
  sendHere<K extends keyof Pushes>(room: string, event: K, payload: Pushes[K]): void;
  /** Whether a connection of this process is in a room. */
  isIn(room: string, connection: string): boolean;
  /** Makes a connection of this process leave a room. */
  leave(room: string, connection: string): void;
}

/**
 * The domain's port to sockets over whatever reaches them. A push goes to exactly one room and leaves
 * nobody out, because only that form becomes a native uWebSockets.js publish, at a fifth of the cost
 * of sending to each socket; a sender knows its own message by `clientId`. The native path passes no
 * Socket.IO hook, so pushes are counted here.
 */
export function createSocketLive(port: SocketPort): Live {
  function send<K extends keyof Pushes>(room: string, event: K, payload: Pushes[K], note?: Notes[K]): void {
    metrics.broadcasts.inc({ event });
    port.send(room, event, payload, note);
  }

  return {
    message: (payload) => send(chatRoom(payload.chatNo), 'message', payload),
    messageRead: (chatNo, { memberNo, seq, others }) =>
      send(chatRoom(chatNo), 'message:read', { chatNo, memberNo, seq }, others),
    presence: (chatNo, memberNo, present, version) =>
      send(chatRoom(chatNo), 'presence', { chatNo, memberNo, present }, version),
    presenceHere: (chatNo, memberNo, present) =>
      port.sendHere(chatRoom(chatNo), 'presence', { chatNo, memberNo, present }),
    typing: (chatNo, memberNo, typing) => send(chatRoom(chatNo), 'typing', { chatNo, memberNo, typing }),
    room: (memberNo, view, mark) => send(memberRoom(memberNo), 'room', view, mark),
    notification: (memberNo, view) => send(memberRoom(memberNo), 'notification', view),
    notificationHere: (memberNo, view) => port.sendHere(memberRoom(memberNo), 'notification', view),
    isInRoom: (chatNo, connection) => port.isIn(chatRoom(chatNo), connection),
    takeOut: (chatNo, connection) => port.leave(chatRoom(chatNo), connection),
  };
}
