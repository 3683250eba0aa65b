import { adoptionOperations } from './adoption.js';
import { articleOperations } from './articles.js';
import { chatEvents, chatOperations } from './chat.js';
import { communityOperations } from './community.js';
import { connectionEvents, connectionOperations } from './connections.js';
import { intrusionOperations } from './intrusions.js';
import { notificationOperations, socketNotification, streamNotification } from './notifications.js';
import type { Around, Kept, Shaped } from './operation.js';
import type { Rest } from './rest.js';

/** All operations: one place says for each what is asked, how its answer is kept, and what the rest of it must be. */
export const operations = {
  ...connectionOperations,
  ...chatOperations,
  ...articleOperations,
  ...communityOperations,
  ...adoptionOperations,
  ...notificationOperations,
  ...intrusionOperations,
};

type All = typeof operations;

export type OperationName = keyof All;

/** What is asked, and what the history keeps of the answer, by operation. */
export type Operations = {
  [F in OperationName]: { asked: Shaped<All[F]['asked']>; answered: Shaped<All[F]['answered']> };
};

/** All events, by door and name. */
export const events = {
  socket: { ...connectionEvents, ...chatEvents, notification: socketNotification },
  stream: { notification: streamNotification },
};

export type SocketEvents = { [E in keyof typeof events.socket]: Shaped<(typeof events.socket)[E]['shape']> };
export type StreamEvents = { [E in keyof typeof events.stream]: Shaped<(typeof events.stream)[E]['shape']> };

/** How an answer or event is taken apart, and what its rest must be, whatever it is. */
export interface Reading {
  read(answer: unknown, around: Around): Kept<object>;
  /** @param kept may hold further fields */
  rest(around: Around, kept: object): Rest;
}

/** Of an operation; what was asked is to be in `around`. */
export const readingOf = (f: OperationName): Reading => operations[f] as unknown as Reading;

export const readingOfEvent = (door: keyof typeof events, event: string): Reading =>
  (events[door] as unknown as Record<string, Reading>)[event] as Reading;
