import type { Intrusion, Manner } from './intrusions.js';

/**
 * The history of a run: what clients asked for, what they were answered and what was delivered to them, as NDJSON.
 * Whoever judges a run reads nothing else. Every line has `t`, the ms since the run began, by a monotonic clock.
 */
export type HistoryLine = Header | Phase | Fault | Invoke | Ok | Fail | Info | Closed | Delivery | Counts;

interface Timed {
  /** ms since the run began, by a monotonic clock. */
  t: number;
}

/** The first line. */
export interface Header extends Timed {
  e: 'header';
  format: 1;
  /** Of the service, with its commit where that is known. */
  version: string;
  node: string;
  seed: number;
  /** The run's options, by name. */
  options: Record<string, unknown>;
  /** Wall-clock time of `t` 0, ISO 8601. */
  startedAt: string;
  members: { no: number; nickname: string }[];
  rooms: { room: number; members: [author: number, asker: number] }[];
  articles: { article: number; author: number }[];
}

/** After `quiet`, nothing is sent any more; reads after `final` must see the final state. */
export interface Phase extends Timed {
  e: 'phase';
  phase: 'traffic' | 'quiet' | 'final' | 'end';
}

export interface Fault extends Timed {
  e: 'fault';
  fault: string;
  /** The process or connection that it strikes. */
  target: string;
  /** `end` when the target works again. */
  phase: 'begin' | 'end';
}

/** Which interface a call or an event came through. `push` is the legacy push call. */
export type Door = 'rest' | 'push' | 'socket' | 'stream';

/** A message as a client saw it. REST lists have no `seq`. */
export interface SeenMessage {
  id: string;
  seq?: number;
  sender: number;
  content: string;
  /** Participants that have not read it: 1, then 0. */
  readCount?: number;
}

/** A room in a member's list. */
export interface RoomState {
  room: number;
  unread: number;
  /** Content of the latest message; absent while the room is empty. */
  latest?: string;
}

export interface SeenNotification {
  id: number;
  type: string;
  content: string;
  url: string;
  checked: boolean;
}

export interface SeenComment {
  id: number;
  author: number;
  content: string;
  likes: number;
  deleted: boolean;
  /** The comment that it replies to. */
  parent?: number;
}

/** The operations: what is asked, and what a success answers. */
export interface Operations {
  /** Opens a socket. */
  connect: { asked: object; answered: object };
  /** A retry has the `key` and `content` of the first attempt. No two messages share a content. */
  send: { asked: { room: number; key: string; content: string }; answered: { id: string; seq?: number } };
  /** A legacy receiver posts a broadcast back with its id: answered with the stored message, and nothing is stored. */
  postback: { asked: { room: number; message: string }; answered: { id: string } };
  join: {
    asked: { room: number; after: number };
    answered: { seq: number; messages: SeenMessage[]; present: number[]; more: boolean };
  };
  /** Leaves the room: by socket this client, by REST all of the member's. */
  leave: { asked: { room: number }; answered: object };
  read: { asked: { room: number; seq: number }; answered: object };
  /** Has no answer: its success says only that it was sent. */
  typing: { asked: { room: number; typing: boolean }; answered: object };
  rooms: { asked: object; answered: { rooms: RoomState[] } };
  /** A page of the messages before an id, oldest first; it marks all messages of the room read. */
  messages: { asked: { room: number; before?: string }; answered: { messages: SeenMessage[] } };
  article: { asked: { article: number }; answered: { views: number; likes: number; comments: number } };
  comments: { asked: { article: number }; answered: { comments: SeenComment[] } };
  comment: { asked: { article: number; content: string; parent?: number }; answered: object };
  uncomment: { asked: { article: number; comment: number }; answered: object };
  heart: { asked: Target; answered: { count: number } };
  unheart: { asked: Target; answered: { count: number } };
  bookmark: { asked: { article: number }; answered: object };
  unbookmark: { asked: { article: number }; answered: object };
  notifications: { asked: object; answered: { notifications: SeenNotification[] } };
  check: { asked: { notification: number }; answered: object };
  delete: { asked: { notifications: number[] }; answered: object };
  /**
   * What must be refused, or change nothing (intrusions.ts).
   * `on`: the number of the room, notification, comment or article; 0 of none.
   */
  intrude: { asked: { call: Intrusion; manner: Manner; on: number }; answered: object };
  /** Opens an event stream. `after`: the `n` of the last event received. */
  stream: { asked: { after?: number }; answered: object };
}

interface Target {
  target: 'article' | 'comment';
  id: number;
}

export type OperationName = keyof Operations;

/** A client is about to ask. Written before the request leaves. */
export type Invoke = Timed & {
  e: 'invoke';
  /** Joins the line with its outcome. Unique in a run. */
  op: number;
  client: string;
  member: number;
  /** The process asked. */
  process: string;
  door: Door;
} & { [F in OperationName]: { f: F } & Operations[F]['asked'] }[OperationName];

/** The success of the operation `op`. `f` is repeated from its `invoke`. */
export type Ok = Timed & { e: 'ok'; op: number } & {
    [F in OperationName]: { f: F } & Operations[F]['answered'];
  }[OperationName];

/** A refusal that changed nothing: a 4xx, or a 503 of a request that was shed. */
export interface Fail extends Timed {
  e: 'fail';
  op: number;
  status: number;
  code: string;
}

/** Nobody knows whether it was done: a time-out, a lost connection, another 5xx. */
export interface Info extends Timed {
  e: 'info';
  op: number;
  reason: string;
}

/** A client's socket or stream is closed. It has left every room, and receives nothing until it connects again. */
export interface Closed extends Timed {
  e: 'closed';
  client: string;
  door: 'socket' | 'stream';
  reason: string;
}

/** What a client received without asking. */
export type Delivery = Timed & {
  e: 'delivery';
  client: string;
  member: number;
  process: string;
} & (
    | { door: 'socket'; event: 'message'; room: number; message: SeenMessage }
    | { door: 'socket'; event: 'message:read'; room: number; reader: number; seq: number }
    | { door: 'socket'; event: 'presence'; room: number; who: number; present: boolean }
    | { door: 'socket'; event: 'typing'; room: number; who: number; typing: boolean }
    | { door: 'socket'; event: 'room'; state: RoomState }
    | { door: 'socket'; event: 'notification'; notification: SeenNotification }
    /** `n`: the number within the event id, null if it has none. */
    | { door: 'stream'; event: 'notification'; n: number | null; notification: SeenNotification }
  );

/**
 * A process's own counts of rare paths since its start, by metric and labels without `process`, such as
 * `adoption_chat_messages_total{outcome="repeated"}`.
 */
export interface Counts extends Timed {
  e: 'counts';
  process: string;
  counts: Record<string, number>;
}
