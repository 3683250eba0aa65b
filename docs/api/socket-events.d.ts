// Types of the events of the sockets, made from /asyncapi.json: const socket: Socket<ServerEvents, ClientEvents> = io(…) of socket.io-client.

/** What clients send. */
export interface ClientEvents {
  /** From the acknowledgement on, every message of the room comes to this connection, in order. Marks the messages of the other party read. Join again with `after` after each reconnect. */
  'room:join': (request: RoomJoinRequest, ack: (answer: RoomJoinSuccess | ErrorAck) => void) => void;
  /** This connection receives no more of the room. Presence ends with the last connection of the member in the room. */
  'room:leave': (request: RoomLeaveRequest, ack: (answer: RoomLeaveSuccess | ErrorAck) => void) => void;
  /** Acknowledged when the message is stored. It then comes to every connection in the room, the sender’s too: tell your own by its `id`. The same `clientId` again answers with the first message, so an unanswered send may be repeated safely. */
  'message:send': (request: MessageSendRequest, ack: (answer: MessageSendSuccess | ErrorAck) => void) => void;
  /** Everything up to `seq` is read. An older number, or one past the newest, is no fault. */
  'message:read': (request: MessageReadRequest, ack: (answer: MessageReadSuccess | ErrorAck) => void) => void;
  /** Passed on to the room, which this connection has joined. It may be dropped, so an app sends it volatile and asks for no acknowledgement: let it expire on the other side after a few seconds. */
  'typing': (request: TypingRequest) => void;
  /** The new token must be of the same member: one of another member is refused and ends the connection. */
  'auth:refresh': (request: AuthRefreshRequest, ack: (answer: AuthRefreshSuccess | ErrorAck) => void) => void;
}

/** What the server sends. */
export interface ServerEvents {
  /** To every connection in the room. Drop one whose `seq` you have. After a gap in `seq`, join the room again with `after`. */
  'message': (event: SocketMessage) => void;
  /** To every connection in the room: messages up to `seq` have been read by this member. */
  'message:read': (event: MessageReadEvent) => void;
  /** To every connection in the room, the typing one too. May be lost. */
  'typing': (event: TypingEvent) => void;
  /** To every connection in the room: with the first device of a member that enters, and the last that leaves. */
  'presence': (event: PresenceEvent) => void;
  /** To every connection of the member: a new room, a new latest message, another unread count. It is state: at most one per room in 250 ms, the latest always arrives. */
  'room': (event: ChatRoom) => void;
  /** To every connection of the member; the same record as on the event stream. */
  'notification': (event: Notification) => void;
  /** The connection closes within the time given: reconnect at a random moment of it. */
  'drain': (event: DrainEvent) => void;
  /** A minute before the token ends: send `auth:refresh`. */
  'auth:expiring': (event: AuthExpiringEvent) => void;
  /** The last event before the server disconnects. TOKEN_EXPIRED: the access token has expired: connect with a new one. ANOTHER_MEMBER: auth:refresh was sent with the token of another member. TOO_MANY_CONNECTIONS: this member has too many connections; the oldest gave way. TOO_MANY_FRAMES: this member has sent too many frames or bytes in 10 s. */
  'closing': (event: ClosingEvent) => void;
}

/** What `room:join` takes. */
export type RoomJoinRequest = {
  /** chat room identifier */
  chatNo: number;
  /** the last `seq` the client has: `messages` holds what follows it. Absent, or above the `seq` of the room: the newest messages */
  after?: number;
  /** the `id` of the message with that `seq`. If that message is another one, numbers have begun anew: the newest messages */
  afterId?: string;
};

/** What `room:join` is acknowledged with on success. */
export type RoomJoinSuccess = {
  /** 200 on success */
  status: 200;
  /** at most 500, and 256 KiB of text; oldest first */
  messages: Array<SocketMessage>;
  /** what `messages` are. `after`: those that follow the `seq` the client has. `newest`: the newest of the room; they take the place of what the client has, and `seq` that of its number */
  from: "after" | "newest";
  /** whether there are more than `messages`. With `from` `after` newer ones: join again with the last `seq` of `messages`. With `newest` older ones, which `GET /chatroom/{chat_no}?before={id}` reads */
  more: boolean;
  /** number of the newest message of the room */
  seq: number;
  /** numbers of the members who are in the room now */
  present: Array<number>;
};

/** The error body, with the time to wait where the request may be repeated. */
export type ErrorAck = {
  /** the HTTP status */
  status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 503;
  /** a stable code that clients may switch on */
  message: "INVALID_INPUT" | "MALFORMED_BODY" | "UNAUTHORIZED" | "TOKEN_EXPIRED" | "FORBIDDEN" | "ORIGIN_NOT_ALLOWED" | "NOT_FOUND" | "ARTICLE_NOT_FOUND" | "COMMENT_NOT_FOUND" | "HEART_NOT_FOUND" | "BOOKMARK_NOT_FOUND" | "SALE_NOT_FOUND" | "CHAT_ROOM_NOT_FOUND" | "MESSAGE_NOT_FOUND" | "NOTIFICATION_NOT_FOUND" | "UNKNOWN_EVENT" | "METHOD_NOT_ALLOWED" | "ALREADY_HEARTED" | "ALREADY_BOOKMARKED" | "COMMENTS_FULL" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE";
  /** what is wrong, one text per fault, naming the field; texts may change */
  errors: Array<string>;
  /** milliseconds to wait, where the request may be repeated */
  retryAfterMs?: number;
};

/** What `room:leave` takes. */
export type RoomLeaveRequest = {
  /** chat room identifier */
  chatNo: number;
};

/** What `room:leave` is acknowledged with on success. */
export type RoomLeaveSuccess = {
  /** 200 on success */
  status: 200;
};

/** What `message:send` takes. */
export type MessageSendRequest = {
  /** chat room identifier */
  chatNo: number;
  /** kind of content: text, image or picture (an address), coords ("latitude longitude") */
  contentType: "text" | "image" | "picture" | "coords";
  /** the text; the address of an image: http(s), a path, or a data URL of an image other than SVG, of 2,048 characters at most; or coordinates (decimal degrees) */
  content: string;
  /** the client’s own name of this message, unique in the room, such as a UUID */
  clientId?: string;
};

/** What `message:send` is acknowledged with on success. */
export type MessageSendSuccess = {
  /** 200 on success */
  status: 200;
  message: SocketMessage;
};

/** What `message:read` takes. */
export type MessageReadRequest = {
  /** chat room identifier */
  chatNo: number;
  /** number of the last message that was read */
  seq: number;
};

/** What `message:read` is acknowledged with on success. */
export type MessageReadSuccess = {
  /** 200 on success */
  status: 200;
};

/** What `typing` takes. */
export type TypingRequest = {
  /** chat room identifier */
  chatNo: number;
  /** true when typing begins, false when it ends */
  typing: boolean;
};

/** What `auth:refresh` takes. */
export type AuthRefreshRequest = {
  /** an access token, raw or behind `Bearer` */
  token: string;
};

/** What `auth:refresh` is acknowledged with on success. */
export type AuthRefreshSuccess = {
  /** 200 on success */
  status: 200;
  /** when the connection ends unless it is prolonged again, epoch milliseconds */
  expiresAt: number;
};

/** The chat notification payload, every field filled, plus `seq`. */
export type SocketMessage = {
  /** message identifier */
  id: string;
  /** chat room identifier */
  chatNo: number;
  /** kind of content: text, an image (an address), a picture (an address) or "latitude longitude" */
  contentType: "text" | "image" | "picture" | "coords";
  /** message content */
  content: string;
  /** sender name */
  senderName: string;
  /** sender member identifier */
  senderNo: number;
  /** sale (adoption) post identifier */
  saleNo: number;
  /** send time by the server's clock, epoch milliseconds */
  sendTime: number;
  /** participants that have not read it: 1, then 0 */
  readCount: 0 | 1;
  /** sender e-mail */
  senderEmail: string;
  /** number of the message in its room: 1, 2, 3 … without a gap */
  seq: number;
};

/** To every connection in the room: messages up to `seq` have been read by this member. */
export type MessageReadEvent = {
  /** chat room identifier */
  chatNo: number;
  /** member identifier of the reader */
  memberNo: number;
  /** number of the last message read */
  seq: number;
};

/** To every connection in the room, the typing one too. May be lost. */
export type TypingEvent = {
  /** chat room identifier */
  chatNo: number;
  /** member identifier of who is typing */
  memberNo: number;
  /** whether typing goes on */
  typing: boolean;
};

/** To every connection in the room: with the first device of a member that enters, and the last that leaves. */
export type PresenceEvent = {
  /** chat room identifier */
  chatNo: number;
  /** member identifier of who entered or left */
  memberNo: number;
  /** whether the member is in the room now */
  present: boolean;
};

/** A chat room as one participant sees it. */
export type ChatRoom = {
  /** chat room identifier */
  chatNo: number;
  /** member identifier of the room creator: the author of the sale post */
  createMember: number;
  /** member identifier of the joining member */
  joinMember: number;
  /** sale (adoption) post identifier */
  saleNo: number;
  /** sale post title */
  saleTitle: string;
  /** room registration time, epoch milliseconds */
  regDate: number;
  /** the other party */
  participant: {
    /** nickname */
    username: string;
    /** profile image path */
    profile: string;
  };
  /** last message; absent while the room is empty */
  latestMessage?: {
    /** message text */
    context: string;
    /** send time, epoch milliseconds */
    sendAt: number;
  };
  /** messages of the other party that the requester has not read */
  unReadCount: number;
};

/** A notification of a member. */
export type Notification = {
  /** notification identifier */
  id: number;
  /** what it is about */
  type: "announcement" | "documentHot" | "documentWeek" | "chat" | "note" | "comment" | "recomment";
  /** notification text */
  content: string;
  /** redirect URL: a path inside the application, with a leading slash */
  url: string;
  /** creation time as six numbers: year, month, day, hour, minute, second */
  publishedAt: [number, number, number, number, number, number];
  /** nickname of the member it comes from; `admin` where it comes from the service */
  name: string;
  /** read flag */
  checked: boolean;
  /** deleted flag */
  del: boolean;
};

/** The connection closes within the time given: reconnect at a random moment of it. */
export type DrainEvent = {
  /** milliseconds over which to spread the reconnects */
  retryAfterMs: number;
};

/** A minute before the token ends: send `auth:refresh`. */
export type AuthExpiringEvent = {
  /** when the token ends, epoch milliseconds */
  expiresAt: number;
};

/** The last event before the server disconnects. TOKEN_EXPIRED: the access token has expired: connect with a new one. ANOTHER_MEMBER: auth:refresh was sent with the token of another member. TOO_MANY_CONNECTIONS: this member has too many connections; the oldest gave way. TOO_MANY_FRAMES: this member has sent too many frames or bytes in 10 s. */
export type ClosingEvent = {
  /** a stable code */
  code: "TOKEN_EXPIRED" | "ANOTHER_MEMBER" | "TOO_MANY_CONNECTIONS" | "TOO_MANY_FRAMES";
  /** whether the same client may reconnect as it is */
  reconnect: boolean;
  /** the same in words */
  text: string;
};
