import type { HistoryLine } from '../history.js';
import {
  type Answer,
  type Below,
  COUNTS,
  type Edit,
  type Event,
  nameOf,
  pick,
  replaced,
  type Source,
  writtenIn,
} from './edit.js';
import { isKnown } from './events.js';

type Path = (string | number)[];

interface Place {
  path: Path;
  value: unknown;
}

/** Where a place is in every line of its kind: `messages.*.sender`. */
const signatureOf = (path: Path): string =>
  path.map((step) => (typeof step === 'number' ? '*' : step)).join('.');

/** The places below a value: its fields and elements, lists included. */
function placesIn(value: unknown, path: Path = []): Place[] {
  const own = path.length > 0 ? [{ path, value }] : [];
  if (value === null || typeof value !== 'object') return own;
  const steps: [string | number, unknown][] = Array.isArray(value)
    ? value.map((element, i) => [i, element])
    : Object.entries(value);
  const below = steps.flatMap(([step, inner]) => placesIn(inner, [...path, step]));
  return Array.isArray(value) ? [...own, ...below] : below;
}

/** The line with another value at a place. */
function withValue<T>(line: T, [step, ...rest]: Path, value: unknown): T {
  if (step === undefined) return value as T;
  const copy = (Array.isArray(line) ? [...line] : { ...line }) as Record<string | number, unknown>;
  copy[step] = withValue(copy[step], rest, value);
  return copy as T;
}

/** Numbers that follow each other. */
const NUMBERS = new Set(['seq', 'n']);

/** Operations that were under way between a line's request and the line: by so many a count may differ rightly. */
function underWay(lines: readonly HistoryLine[], index: number): number {
  const line = lines[index] as HistoryLine;
  let count = 0;
  const seen = new Set<number>();
  for (let i = index - 1; i >= 0; i -= 1) {
    const earlier = lines[i] as HistoryLine;
    if (line.e === 'ok' && earlier.e === 'invoke' && earlier.op === line.op) break;
    if (line.e === 'delivery' && earlier.t < line.t - EVENT_MS) break;
    if ('op' in earlier && !seen.has(earlier.op)) {
      seen.add(earlier.op);
      count += 1;
    }
  }
  return count;
}

/** Time for which an event may have been under way, ms. */
const EVENT_MS = 1_000;

/** Times, ms; an hour is a mistake in every one of them, ms are not. */
const TIMES = new Set(['at', 'latestAt', 'since']);
const HOUR_MS = 3_600_000;

/** Another number for one that is no id; undefined for an id. */
function otherNumber(
  source: Source,
  index: number,
  name: string,
  value: number,
  isLess: boolean,
): number | undefined {
  if (name === 'readCount') return 1 - value;
  if (NUMBERS.has(name)) return isLess ? value - 1 : value + 1;
  if (TIMES.has(name)) return isLess ? value - HOUR_MS : value + HOUR_MS;
  if (!COUNTS.has(name)) return undefined;
  const by = 1 + underWay(source.lines, index);
  return isLess && value >= by ? value - by : value + by;
}

/** Another value of the kind that has its place. @param others values of this place in other lines */
function otherValue(
  source: Source,
  index: number,
  { path, value }: Place,
  others: unknown[],
  below: Below,
): unknown {
  const name = path.findLast((step) => typeof step === 'string') as string;
  if (typeof value === 'boolean') return !value;
  const number =
    typeof value === 'number' ? otherNumber(source, index, name, value, below(2) === 0) : undefined;
  if (number !== undefined) return number;
  const known = [...new Set(others)].filter((other) => other !== value && typeof other === typeof value);
  if (known.length > 0) return pick(known, below);
  return typeof value === 'number' ? value + 1 : `${value}x`;
}

/** One field of an answer or event has another value. @param indexes lines of one kind */
export function editField(source: Source, indexes: number[], below: Below): Edit | undefined {
  const index = pick(indexes, below) as number;
  const line = source.lines[index] as Answer | Event;
  if (line.e === 'delivery' && !isKnown(source, index)) return undefined;
  const places = placesIn(writtenIn(line)).filter(({ value }) => !Array.isArray(value));
  const signature = pick([...new Set(places.map(({ path }) => signatureOf(path)))], below);
  const place = pick(
    places.filter(({ path }) => signatureOf(path) === signature),
    below,
  );
  if (!place) return undefined;
  const others = Array.from({ length: OTHERS }, () => source.lines[pick(indexes, below) as number] as Answer)
    .flatMap((other) => placesIn(writtenIn(other)))
    .filter(({ path }) => signatureOf(path) === signature)
    .map(({ value }) => value);
  const value = otherValue(source, index, place, others, below);
  const what = `${nameOf(line)}: ${place.path.join('.')} is ${JSON.stringify(value)} for ${JSON.stringify(place.value)}`;
  return {
    what,
    line: index + 1,
    lines: replaced(source.lines, new Map([[index, withValue(line, place.path, value)]])),
  };
}

/** Lines of the same kind from which another value is taken. */
const OTHERS = 8;

/** Changes of a list, by what they do. */
const OF_LISTS: Record<string, (list: unknown[], below: Below) => unknown[]> = {
  'lacks an element': (list, below) => list.toSpliced(below(list.length), 1),
  'has an element twice': (list, below) => {
    const i = below(list.length);
    return list.toSpliced(i, 0, list[i]);
  },
  'is in another order': (list, below) => {
    const i = below(list.length - 1);
    return list.toSpliced(i, 2, list[i + 1], list[i]);
  },
};

/** A list of an answer has one element less or more, or two in the other order. */
export function editList(source: Source, indexes: number[], below: Below): Edit | undefined {
  const index = pick(indexes, below) as number;
  const line = source.lines[index] as Answer | Event;
  const lists = placesIn(writtenIn(line)).filter(({ value }) => Array.isArray(value) && value.length > 0);
  const place = pick(lists, below);
  if (!place) return undefined;
  const list = place.value as unknown[];
  const isOrdered = list.length > 1 && place.path.at(-1) !== 'present';
  const names = Object.keys(OF_LISTS).filter((name) => isOrdered || !name.includes('order'));
  const name = pick(names, below) as string;
  const changed = OF_LISTS[name]?.(list, below) as unknown[];
  if (JSON.stringify(changed) === JSON.stringify(list)) return undefined;
  const what = `${nameOf(line)}: ${place.path.join('.')} (${list.length}) ${name}`;
  return {
    ...{ what, line: index + 1 },
    lines: replaced(source.lines, new Map([[index, withValue(line, place.path, changed)]])),
  };
}
