import { z } from 'zod';

/** Epoch ms, by the server's clock. `format` is for readers and tests. */
const epochMs = z.int().meta({ format: 'epoch-ms', example: 1_659_327_876_000 });

const readCount = 'participants that have not read it: 1, then 0';

/** A message as sockets get it: the documented payload, every field filled, and the room's running number. */
export const messagePayload = z
  .object({
    id: z
      .string()
      .meta({ description: 'message identifier', example: '01973f6e-8b1c-7c52-9d0e-5b1f0a6e3d11' }),
    chatNo: z.int().meta({ description: 'chat room identifier', example: 7 }),
    contentType: z.string().meta({
      description:
        'kind of content: text, an image (an address), a picture (an address) or "latitude longitude"',
      enum: ['text', 'image', 'picture', 'coords'],
    }),
    content: z
      .string()
      .meta({ description: 'message content', example: 'Is Bori still looking for a home?' }),
    senderName: z.string().meta({ description: 'sender name', example: 'Minji' }),
    senderNo: z.int().meta({ description: 'sender member identifier', example: 3 }),
    saleNo: z.int().meta({ description: 'sale (adoption) post identifier', example: 12 }),
    sendTime: epochMs.meta({ description: "send time by the server's clock, epoch milliseconds" }),
    readCount: z.int().meta({ description: readCount, enum: [0, 1] }),
    senderEmail: z.string().meta({ description: 'sender e-mail', example: 'minji@example.org' }),
    seq: z
      .int()
      .meta({ description: 'number of the message in its room: 1, 2, 3 … without a gap', example: 41 }),
  })
  .meta({
    id: 'SocketMessage',
    description: 'The chat notification payload, every field filled, plus `seq`.',
  });
export type MessagePayload = z.infer<typeof messagePayload>;

/** One element of the documented room list. */
export const roomView = z
  .object({
    chatNo: z.int().meta({ description: 'chat room identifier', example: 7 }),
    createMember: z.int().meta({
      description: 'member identifier of the room creator: the author of the sale post',
      example: 3,
    }),
    joinMember: z.int().meta({ description: 'member identifier of the joining member', example: 5 }),
    saleNo: z.int().meta({ description: 'sale (adoption) post identifier', example: 12 }),
    saleTitle: z.string().meta({ description: 'sale post title', example: 'Bori, a gentle Jindo mix' }),
    regDate: epochMs.meta({ description: 'room registration time, epoch milliseconds' }),
    participant: z
      .object({
        username: z.string().meta({ description: 'nickname', example: 'Minji' }),
        profile: z.string().meta({ description: 'profile image path', example: 'profile/minji.png' }),
      })
      .meta({ description: 'the other party' }),
    latestMessage: z
      .object({
        context: z
          .string()
          .meta({ description: 'message text', example: 'Is Bori still looking for a home?' }),
        sendAt: epochMs.meta({ description: 'send time, epoch milliseconds' }),
      })
      .optional()
      .meta({ description: 'last message; absent while the room is empty' }),
    unReadCount: z
      .int()
      .meta({ description: 'messages of the other party that the requester has not read', example: 2 }),
  })
  .meta({ id: 'ChatRoom', description: 'A chat room as one participant sees it.' });
export type RoomView = z.infer<typeof roomView>;

/** The documented notification record. */
export const notificationView = z
  .object({
    id: z.int().meta({ description: 'notification identifier', example: 88 }),
    type: z.string().meta({
      description: 'what it is about',
      enum: ['announcement', 'documentHot', 'documentWeek', 'chat', 'note', 'comment', 'recomment'],
    }),
    content: z.string().meta({ description: 'notification text', example: 'Congratulations!' }),
    url: z.string().meta({
      description: 'redirect URL: a path inside the application, with a leading slash',
      example: '/board/1',
    }),
    publishedAt: z.tuple([z.int(), z.int(), z.int(), z.int(), z.int(), z.int()]).meta({
      description: 'creation time as six numbers: year, month, day, hour, minute, second',
      example: [2022, 8, 1, 12, 34, 56],
    }),
    name: z.string().meta({
      description: 'nickname of the member it comes from; `admin` where it comes from the service',
      example: 'Minji',
    }),
    checked: z.boolean().meta({ description: 'read flag' }),
    del: z.boolean().meta({ description: 'deleted flag' }),
  })
  .meta({ id: 'Notification', description: 'A notification of a member.' });
export type NotificationView = z.infer<typeof notificationView>;

/** Shortest interval between two `room` events of one room to one member, ms. (contract, section 5) */
export const ROOM_INTERVAL_MS = 250;

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

/**
 * The port from the domain to connected sockets. A push is a hint about stored data: losing one costs a client
 * time, never data, so no method reports whether it arrived. (contract, section 5)
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
  /**
   * A notification of another process that was not pushed, to this process's sockets.
   * @param json the view as JSON
   * @returns whether the member has one here
   */
  notificationHere(memberNo: number, view: NotificationView, json: string): boolean;
  /** Whether the member has a socket in this process. */
  isConnected(memberNo: number): boolean;
  /** When the first of the member's sockets in this process connected, epoch ms; Infinity if there is none. */
  connectedSince(memberNo: number): number;
  /** How many connections of this process are in a room. If any are, what other processes publish to it arrives here. */
  connectionsIn(chatNo: number): number;
  /** Whether a connection of this process is in a room. */
  isInRoom(chatNo: number, connection: string): boolean;
  /** Removes a connection of this process from a room. */
  removeFromRoom(chatNo: number, connection: string): void;
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
  notificationHere: () => false,
  isConnected: () => false,
  connectedSince: () => Number.POSITIVE_INFINITY,
  connectionsIn: () => 0,
  isInRoom: () => false,
  removeFromRoom() {},
};
