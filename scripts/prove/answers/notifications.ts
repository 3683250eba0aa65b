import { z } from 'zod';
import { takeLocalTime } from './local-time.js';
import { acknowledged, event, type Kept, no, operation, type Shaped, text } from './operation.js';
import { take } from './rest.js';

const notification = {
  id: no,
  type: text,
  content: text,
  url: text,
  checked: z.boolean(),
  /** The name of who caused it. */
  name: text,
  /** When it was stored: local ms, whole seconds (answers/local-time.ts). */
  at: no,
};
export type SeenNotification = Shaped<typeof notification>;

function readNotification(view: unknown): Kept<SeenNotification> {
  const [fields, rest] = take(view, {
    ...{ id: 'int', type: 'text', content: 'text', url: 'text', checked: 'flag', name: 'text' },
  });
  const at = takeLocalTime(rest, 'publishedAt', 'numbers');
  return { kept: { ...fields, at }, rest: [rest] };
}

/** Deleted ones are never shown. */
const REST = { del: false };

/** An event as a stream carries it. */
export interface StreamEvent {
  id: string | undefined;
  event: string | undefined;
  data: string;
}

/** The member and number within an event id, `{memberNo}_{n}`; one that is none stays in the rest. */
function readEventId({ id, event }: StreamEvent): { n: number | null; rest: object } {
  const [, member, n] = /^(\d+)_(\d+)$/.exec(id ?? '') ?? [];
  return n === undefined
    ? { n: null, rest: { id, event } }
    : { n: Number(n), rest: { member: Number(member), event } };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

/** The headers that the interface names. */
const STREAM_HEADERS = { type: 'text/event-stream', buffering: 'no', connection: 'keep-alive' };

export const notificationOperations = {
  notifications: operation({
    asked: {},
    answered: { notifications: z.array(z.object(notification)) },
    read(answer) {
      if (!Array.isArray(answer)) return { kept: { notifications: [] }, rest: [answer] };
      const list = answer.map(readNotification);
      return {
        kept: { notifications: list.map(({ kept }) => kept) },
        rest: list.flatMap(({ rest }) => rest),
      };
    },
    rest: (_, { notifications }) => notifications.map(() => REST),
  }),

  check: acknowledged({ notification: no }),
  delete: acknowledged({ notifications: z.array(no) }),

  /** Opens an event stream. `after`: the `n` of the last event received. `last`: the `n` of its first event, which holds a text. */
  stream: operation({
    asked: { after: no.optional() },
    answered: { last: z.number().nullable() },
    read(answer) {
      const { data, headers, ...first } = answer as StreamEvent & { headers: object };
      const { n, rest } = readEventId({ ...first, data });
      return { kept: { last: n }, rest: [headers, { ...rest, data }] };
    },
    rest: ({ member }) => [
      STREAM_HEADERS,
      { member, event: 'sse', data: `EventStream Created. [userId=${member}]` },
    ],
  }),
};

const notified = { notification: z.object(notification) };

export const socketNotification = event({
  shape: notified,
  read(payload) {
    const { kept, rest } = readNotification(payload);
    return { kept: { notification: kept }, rest };
  },
  rest: () => [REST],
});

export const streamNotification = event({
  /** `n`: the number within the event id, null if it has none. */
  shape: { n: z.number().nullable(), ...notified },
  read(payload) {
    const carried = payload as StreamEvent;
    const { n, rest: id } = readEventId(carried);
    const { kept, rest } = readNotification(parsed(carried.data));
    return { kept: { n, notification: kept }, rest: [id, ...rest] };
  },
  rest: ({ member }) => [{ member, event: 'sse' }, REST],
});
