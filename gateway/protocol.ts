import type { ErrorBody } from '../domain/kernel/errors.js';
import type { MessagePayload, NotificationView, RoomView } from '../domain/kernel/live.js';
import type { CloseReason } from './close-reasons.js';

/** The answer to a request: the fields of `T` and `status: 200`, or an error body. */
export type Answer<T = object> = ({ status: 200 } & T) | (ErrorBody & { retryAfterMs?: number });

export type Ack<T = object> = (answer: Answer<T>) => void;

/** The answer to `room:join`. */
export interface Joined {
  messages: MessagePayload[];
  more: boolean;
  seq: number;
  present: number[];
}

/** Client to server. (contract, section 5; PROTOCOL.md has a sample session) */
export interface ClientEvents {
  'room:join': (request: { chatNo: number; after?: number }, ack?: Ack<Joined>) => void;
  'room:leave': (request: { chatNo: number }, ack?: Ack) => void;
  'message:send': (
    request: { chatNo: number; contentType: string; content: string; clientId?: string },
    ack?: Ack<{ message: MessagePayload }>,
  ) => void;
  'message:read': (request: { chatNo: number; seq: number }, ack?: Ack) => void;
  typing: (request: { chatNo: number; typing: boolean }) => void;
  'auth:refresh': (request: { token: string }, ack?: Ack<{ expiresAt: number }>) => void;
}

/** Server to client. */
export interface ServerEvents {
  message: (payload: MessagePayload) => void;
  'message:read': (event: { chatNo: number; memberNo: number; seq: number }) => void;
  typing: (event: { chatNo: number; memberNo: number; typing: boolean }) => void;
  presence: (event: { chatNo: number; memberNo: number; present: boolean }) => void;
  room: (view: RoomView) => void;
  notification: (view: NotificationView) => void;
  /** This process is stopping: reconnect at a random moment of the next `retryAfterMs`. */
  drain: (event: { retryAfterMs: number }) => void;
  /** The token expires soon: send `auth:refresh` before `expiresAt` (epoch ms). */
  'auth:expiring': (event: { expiresAt: number }) => void;
  /** The server is about to close this connection. */
  closing: (reason: CloseReason) => void;
}
