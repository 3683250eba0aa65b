/**
 * The port from the domain to connected sockets. Everything sent through it is a hint about what is
 * stored already: losing one must cost a client time, never data, so no method reports delivery.
 * (contract, section 5)
 */

/** The documented chat notification payload with every field filled, plus the room's running number. */
export interface MessagePayload {
  id: string;
  chatNo: number;
  contentType: string;
  content: string;
  senderName: string;
  senderNo: number;
  saleNo: number;
  /** Epoch ms, the server's. */
  sendTime: number;
  /** Participants that have not read it: 1 or 0. */
  readCount: number;
  senderEmail: string;
  /** 1, 2, 3 … per room. */
  seq: number;
}

/** One element of the documented room list, as one participant sees it. */
export interface RoomView {
  chatNo: number;
  createMember: number;
  joinMember: number;
  saleNo: number;
  saleTitle: string;
  /** Epoch ms. */
  regDate: number;
  participant: { username: string; profile: string };
  /** Absent while the room is empty. */
  latestMessage?: { context: string /** Epoch ms. */; sendAt: number };
  unReadCount: number;
}

/**
 * How far a room is as one participant sees it: its newest number, and how many of the other party's messages
 * the participant has read. Both only rise, and everything that changes in a RoomView follows from them, so two
 * states are ordered number by number and a state is news exactly where one of its numbers is higher.
 */
export interface RoomMark {
  seq: number;
  read: number;
}

/** A participant has read every message up to `seq`; `others` of them are the other party's. */
export interface ReadPosition {
  memberNo: number;
  seq: number;
  others: number;
}

/** The numbers of a room as the database has them. */
export interface RoomHead {
  chatNo: number;
  /** Number of the newest message; 0 in an empty room. */
  seq: number;
  /** Of both participants. */
  reads: ReadPosition[];
}

/** The documented notification record. */
export interface NotificationView {
  id: number;
  type: string;
  content: string;
  url: string;
  publishedAt: [number, number, number, number, number, number];
  name: string;
  checked: boolean;
  del: boolean;
}

export interface Live {
  /** A stored message, to every socket in its room. Called in `seq` order within one process. */
  message(payload: MessagePayload): void;
  /** A read position moved forward, to every socket in the room. `others` is for the gateways alone. */
  messageRead(chatNo: number, position: ReadPosition): void;
  /**
   * A participant came to the room with their first device, or left it with the last, to every socket in it.
   * @param version rises with every change of theirs: one that arrives behind a later one is dropped
   */
  presence(chatNo: number, memberNo: number, present: boolean, version: number): void;
  /** The same, of a change that this process was not told of: to its own sockets alone. */
  presenceHere(chatNo: number, memberNo: number, present: boolean): void;
  /** A participant is typing, or has stopped. May be lost. */
  typing(chatNo: number, memberNo: number, typing: boolean): void;
  /**
   * A room's state as one participant sees it, to all of that member's sockets.
   * @param mark for the gateways alone: they pass on what is news to the member's sockets
   */
  room(memberNo: number, view: RoomView, mark: RoomMark): void;
  /** A notification, to all of a member's sockets. */
  notification(memberNo: number, view: NotificationView): void;
  /** A notification that another process wrote and did not get across: to this process's sockets alone. */
  notificationHere(memberNo: number, view: NotificationView): void;
  /** Whether a connection of this process is in a room now. */
  isInRoom(chatNo: number, connection: string): boolean;
  /** Takes a connection of this process out of a room. */
  takeOut(chatNo: number, connection: string): void;
}

/** Where there are no sockets to reach: commands, and tests of the domain alone. */
export const noLive: Live = {
  message() {},
  messageRead() {},
  presence() {},
  presenceHere() {},
  typing() {},
  room() {},
  notification() {},
  notificationHere() {},
  isInRoom: () => false,
  takeOut() {},
};
