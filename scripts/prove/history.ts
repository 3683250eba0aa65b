import type { OperationName, Operations, SocketEvents, StreamEvents } from './answers/index.js';
import type { Rest } from './answers/rest.js';

export type { RoomState, SeenMessage } from './answers/chat.js';
export type { SeenComment } from './answers/community.js';
export type { OperationName, Operations } from './answers/index.js';
export type { SeenNotification } from './answers/notifications.js';

/**
 * The history of a run: what clients asked for, what they were answered and what was delivered to them, as NDJSON.
 * Whoever judges a run reads nothing else. Every line has `t`, the ms since the run began, by a monotonic clock.
 */
export type HistoryLine = Header | Phase | Fault | Invoke | Ok | Fail | Info | Closed | Delivery | Counts;

interface Timed {
  /** ms since the run began, by a monotonic clock. */
  t: number;
}

/** What an answer or event holds beside the fields of its line (answers/rest.ts). */
interface Whole {
  /** Absent: nothing, and nothing is to be there. A text: the hash of what is to be there. */
  rest?: string | Rest | undefined;
}

/** The first line. */
export interface Header extends Timed {
  e: 'header';
  format: 2;
  /** Of the service, with its commit where that is known. */
  version: string;
  node: string;
  seed: number;
  /** The run's options, by name. */
  options: Record<string, unknown>;
  /** Wall-clock time of `t` 0, ISO 8601. */
  startedAt: string;
  /** What is to be added to UTC for local times, ms, where that is known. */
  localOffsetMs?: number | undefined;
  /** `picture`: absent where it is not known. */
  members: { no: number; nickname: string; email: string; picture?: string | undefined }[];
  /** `creator` is the author of the sale post, `joiner` who asks. */
  rooms: { room: number; creator: number; joiner: number; saleNo: number; saleTitle: string }[];
  articles: {
    article: number;
    author: number;
    title: string;
    text: string;
    images: { no: number; url: string }[];
  }[];
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
export type Ok = Timed &
  Whole & { e: 'ok'; op: number } & {
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
export type Delivery = Timed &
  Whole & { e: 'delivery'; client: string; member: number; process: string } & (
    | { [E in keyof SocketEvents]: { door: 'socket'; event: E } & SocketEvents[E] }[keyof SocketEvents]
    | { [E in keyof StreamEvents]: { door: 'stream'; event: E } & StreamEvents[E] }[keyof StreamEvents]
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
