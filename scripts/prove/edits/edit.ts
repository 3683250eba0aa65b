import type { HistoryLine } from '../history.js';
import { settledEvents } from './settled.js';

/** Random integers from 0 to below a limit. */
export type Below = (limit: number) => number;

/** A history with one change, as a faulty service would have had it written. */
export interface Edit {
  /** What was changed, with clients and values. */
  what: string;
  /** Number of the changed line in the history before the change. */
  line: number;
  lines: HistoryLine[];
}

/** A history, and what is drawn from it. */
export interface Source {
  lines: readonly HistoryLine[];
  /** Indexes of answers and of events, by operation and by event. */
  answers: Map<string, number[]>;
  events: Map<string, number[]>;
  /** Indexes of events of a room to who is in it, and does not join or leave. */
  settled: Set<number>;
}

export type Answer = Extract<HistoryLine, { e: 'ok' }>;
export type Event = Extract<HistoryLine, { e: 'delivery' }>;

export const pick = <T>(list: readonly T[], below: Below): T | undefined => list[below(list.length)];

export function sourceOf(lines: readonly HistoryLine[]): Source {
  const source: Source = { lines, answers: new Map(), events: new Map(), settled: settledEvents(lines) };
  const add = (map: Map<string, number[]>, key: string, i: number) => {
    const known = map.get(key);
    if (known) known.push(i);
    else map.set(key, [i]);
  };
  for (const [i, line] of lines.entries()) {
    if (line.e === 'ok') add(source.answers, line.f, i);
    else if (line.e === 'delivery') add(source.events, `${line.door} ${line.event}`, i);
  }
  return source;
}

/** The fields of a line that say who asked or received, and when: they are not the service's. */
const FRAME = new Set(['t', 'e', 'op', 'f', 'client', 'member', 'process', 'door', 'event']);

/** What the service wrote of an answer or event. */
export const writtenIn = (line: Answer | Event): Record<string, unknown> =>
  Object.fromEntries(Object.entries(line).filter(([name, value]) => !FRAME.has(name) && value !== undefined));

export const nameOf = (line: HistoryLine): string =>
  line.e === 'ok'
    ? `answer of ${line.f}`
    : line.e === 'delivery'
      ? `event ${line.event} to ${line.client}`
      : line.e;

/** Fields that count what others do at the same time. */
export const COUNTS = new Set(['unread', 'likes', 'count', 'comments', 'views']);

/** A copy of the lines with others in place of some. */
export function replaced(lines: readonly HistoryLine[], changes: Map<number, HistoryLine>): HistoryLine[] {
  return lines.map((line, i) => changes.get(i) ?? line);
}
