import { z } from 'zod';
import type { HistoryLine } from '../history.js';
import { type Intrusion, intrusions, type Manner } from '../intrusions.js';

/** The shapes of history.ts, which describes them. */
const timed = { t: z.number() };
const no = z.int();
const text = z.string();
const door = z.enum(['rest', 'push', 'socket', 'stream']);
const message = z.object({
  id: text,
  seq: no.optional(),
  sender: no,
  content: text,
  readCount: no.optional(),
});
const state = z.object({ room: no, unread: no, latest: text.optional() });
const notification = z.object({ id: no, type: text, content: text, url: text, checked: z.boolean() });
const comment = z.object({
  id: no,
  author: no,
  content: text,
  likes: no,
  deleted: z.boolean(),
  parent: no.optional(),
});
const manner = z.enum(['foreign', 'missing', 'tokenless', 'forged'] satisfies Manner[]);
const intrusion = z.enum(Object.keys(intrusions) as [Intrusion, ...Intrusion[]]);
const target = { target: z.enum(['article', 'comment']), id: no };

/** What is asked, and what a success answers, by operation. */
const operations = {
  connect: [{}, {}],
  send: [
    { room: no, key: text, content: text },
    { id: text, seq: no.optional() },
  ],
  postback: [{ room: no, message: text }, { id: text }],
  join: [
    { room: no, after: no },
    { seq: no, messages: z.array(message), present: z.array(no), more: z.boolean() },
  ],
  leave: [{ room: no }, {}],
  read: [{ room: no, seq: no }, {}],
  typing: [{ room: no, typing: z.boolean() }, {}],
  rooms: [{}, { rooms: z.array(state) }],
  messages: [{ room: no, before: text.optional() }, { messages: z.array(message) }],
  article: [{ article: no }, { views: no, likes: no, comments: no }],
  comments: [{ article: no }, { comments: z.array(comment) }],
  comment: [{ article: no, content: text, parent: no.optional() }, {}],
  uncomment: [{ article: no, comment: no }, {}],
  heart: [target, { count: no }],
  unheart: [target, { count: no }],
  bookmark: [{ article: no }, {}],
  unbookmark: [{ article: no }, {}],
  notifications: [{}, { notifications: z.array(notification) }],
  check: [{ notification: no }, {}],
  delete: [{ notifications: z.array(no) }, {}],
  intrude: [{ call: intrusion, manner, on: no }, {}],
  stream: [{ after: no.optional() }, {}],
} satisfies Record<string, [z.ZodRawShape, z.ZodRawShape]>;

const asked = { ...timed, e: z.literal('invoke'), op: no, client: text, member: no, process: text, door };
const answered = { ...timed, e: z.literal('ok'), op: no };

const names = Object.keys(operations) as (keyof typeof operations)[];
const invokes = names.map((f) => z.object({ ...asked, f: z.literal(f), ...operations[f][0] }));
const oks = names.map((f) => z.object({ ...answered, f: z.literal(f), ...operations[f][1] }));

const received = { ...timed, e: z.literal('delivery'), client: text, member: no, process: text };
const socket = { ...received, door: z.literal('socket') };

const line = z.discriminatedUnion('e', [
  z.object({
    ...timed,
    e: z.literal('header'),
    format: z.literal(1, 'must be 1: the history is of another release'),
    version: text,
    node: text,
    seed: z.number(),
    options: z.record(text, z.unknown()),
    startedAt: text,
    members: z.array(z.object({ no, nickname: text })),
    rooms: z.array(z.object({ room: no, members: z.tuple([no, no]) })),
    articles: z.array(z.object({ article: no, author: no })),
  }),
  z.object({ ...timed, e: z.literal('phase'), phase: z.enum(['traffic', 'quiet', 'final', 'end']) }),
  z.object({ ...timed, e: z.literal('fault'), fault: text, target: text, phase: z.enum(['begin', 'end']) }),
  z.discriminatedUnion('f', invokes as [(typeof invokes)[0], ...typeof invokes]),
  z.discriminatedUnion('f', oks as [(typeof oks)[0], ...typeof oks]),
  z.object({ ...timed, e: z.literal('fail'), op: no, status: no, code: text }),
  z.object({ ...timed, e: z.literal('info'), op: no, reason: text }),
  z.object({
    ...timed,
    e: z.literal('closed'),
    client: text,
    door: z.enum(['socket', 'stream']),
    reason: text,
  }),
  z.discriminatedUnion('event', [
    z.object({ ...socket, event: z.literal('message'), room: no, message }),
    z.object({ ...socket, event: z.literal('message:read'), room: no, reader: no, seq: no }),
    z.object({ ...socket, event: z.literal('presence'), room: no, who: no, present: z.boolean() }),
    z.object({ ...socket, event: z.literal('typing'), room: no, who: no, typing: z.boolean() }),
    z.object({ ...socket, event: z.literal('room'), state }),
    z.discriminatedUnion('door', [
      z.object({ ...socket, event: z.literal('notification'), notification }),
      z.object({
        ...received,
        door: z.literal('stream'),
        event: z.literal('notification'),
        n: z.number().nullable(),
        notification,
      }),
    ]),
  ]),
  z.object({ ...timed, e: z.literal('counts'), process: text, counts: z.record(text, z.number()) }),
]);

/**
 * Checks a line's shape.
 * @throws Error naming the field that is wrong
 */
export function checkLine(value: unknown): HistoryLine {
  const parsed = line.safeParse(value);
  if (parsed.success) return parsed.data as HistoryLine;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'the line'}: ${issue?.message}`);
}
