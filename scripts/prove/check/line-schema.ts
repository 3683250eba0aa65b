import { z } from 'zod';
import { events, operations } from '../answers/index.js';
import { no, text } from '../answers/operation.js';
import type { HistoryLine } from '../history.js';

/** The shapes of history.ts and answers/, which describe them. */
const timed = { t: z.number() };
const door = z.enum(['rest', 'push', 'socket', 'stream']);
const rest = z.union([text, z.array(z.unknown())]).optional();

const asked = { ...timed, e: z.literal('invoke'), op: no, client: text, member: no, process: text, door };
const answered = { ...timed, e: z.literal('ok'), op: no, rest };

const names = Object.keys(operations) as (keyof typeof operations)[];
const invokes = names.map((f) => z.object({ ...asked, f: z.literal(f), ...operations[f].asked }));
const oks = names.map((f) => z.object({ ...answered, f: z.literal(f), ...operations[f].answered }));

const received = { ...timed, e: z.literal('delivery'), client: text, member: no, process: text, rest };
const socketNames = Object.keys(events.socket) as (keyof typeof events.socket)[];
const deliveries = [
  z.discriminatedUnion(
    'event',
    socketNames.map((name) =>
      z.object({
        ...{ ...received, door: z.literal('socket'), event: z.literal(name) },
        ...events.socket[name].shape,
      }),
    ) as never,
  ),
  z.object({
    ...{ ...received, door: z.literal('stream'), event: z.literal('notification') },
    ...events.stream.notification.shape,
  }),
];

const line = z.discriminatedUnion('e', [
  z.object({
    ...timed,
    e: z.literal('header'),
    format: z.literal(2, 'must be 2: the history is of another release'),
    version: text,
    node: text,
    seed: z.number(),
    options: z.record(text, z.unknown()),
    startedAt: text,
    localOffsetMs: no.optional(),
    members: z.array(z.object({ no, nickname: text, email: text, picture: text.optional() })),
    rooms: z.array(z.object({ room: no, creator: no, joiner: no, saleNo: no, saleTitle: text })),
    articles: z.array(
      z.object({
        ...{ article: no, author: no, title: text, text },
        images: z.array(z.object({ no, url: text })),
      }),
    ),
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
  z.discriminatedUnion('door', deliveries as never),
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
