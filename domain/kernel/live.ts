/** The documented chat notification payload with every field filled, and the message's number in the room. */
export interface MessagePayload {
  id: string;
  chatNo: number;
  contentType: string;
  content: string;
  senderName: string;
  senderNo: number;
  saleNo: number;
  /** Epoch ms, by the server's clock. */
  sendTime: number;
  /** Participants who have not read it: 1 or 0. */
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
 * The version of a RoomView: the room's newest `seq`, and how many of the other party's messages the
 * participant has read. Both only rise, and everything that changes in a RoomView follows from them.
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

/** A room's numbers in the database. */
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

/**
 * The port from the domain to connected sockets. A push is a hint about stored data: losing one costs a client
 * time, never data, so no method reports delivery. (contract, section 5)
 */
export interface Live {
  /** A stored message, to every socket in its room. Called in `seq` order within one process. */
  message(payload: MessagePayload): void;
  /** A read position that moved, to every socket in the room. `others` is for gateways only. */
  messageRead(chatNo: number, position: ReadPosition): void;
  /**
   * A participant entered the room with their first device or left it with the last, to every socket in it.
   * @param version rises with each of their changes: one that arrives after a later one is dropped
   */
  presence(chatNo: number, memberNo: number, present: boolean, version: number): void;
  /** A change of presence that this process missed, to its own sockets. */
  presenceHere(chatNo: number, memberNo: number, present: boolean): void;
  /** A participant is typing or has stopped. May be lost. */
  typing(chatNo: number, memberNo: number, typing: boolean): void;
  /**
   * A room's state as one participant sees it, to all of that member's sockets.
   * @param mark for gateways only: they drop states that are not newer
   */
  room(memberNo: number, view: RoomView, mark: RoomMark): void;
  /** A notification, to all of a member's sockets. */
  notification(memberNo: number, view: NotificationView): void;
  /** A notification of another process whose push was lost, to this process's sockets. */
  notificationHere(memberNo: number, view: NotificationView): void;
  /** Whether a connection of this process is in a room. */
  isInRoom(chatNo: number, connection: string): boolean;
  /** Takes a connection of this process out of a room. */
  takeOut(chatNo: number, connection: string): void;
}

/** For processes without sockets: commands, and tests of the domain alone. */
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
