import type { Delivery, Fault, Invoke, OperationName } from '../history.js';
import type { Views } from './facts/views.js';

/** Faults of what all processes use, by what they name as their target. */
const EVERYTHING = new Set(['database', 'redis', 'all']);

/** What a process answers from what it knows itself. */
const UNSTORED = new Set<OperationName>(['connect', 'refresh', 'me', 'leave', 'typing', 'stream']);

/** What only reads: it needs no room on a disk. */
const READING = new Set<OperationName>([
  ...UNSTORED,
  'rooms',
  'articles',
  'render',
  'messages',
  'comments',
  'notifications',
  'join',
  'intrude',
]);

/** What others are told. */
const TOLD = new Set<OperationName>([
  'send',
  'join',
  'leave',
  'read',
  'messages',
  'typing',
  'comment',
  'openRoom',
]);

/** What each fault can hurt; others: everything at their target. */
const HURT = new Map<string, (f: OperationName) => boolean>([
  ['database-stop', (f) => !UNSTORED.has(f)],
  ['database-kill', (f) => !UNSTORED.has(f)],
  ['disk-full', (f) => !READING.has(f)],
  ['redis-cut', (f) => TOLD.has(f)],
  ['redis-stop', (f) => TOLD.has(f)],
  // Presence.
  ['flush', (f) => f === 'join' || f === 'send'],
  ['evict', (f) => f === 'join' || f === 'send'],
]);

/** The process or client in a fault's target, such as `clients of gateway-0` or `http-1 to redis`. */
const placeOf = (target: string): string => target.replace(/^clients of /, '').replace(/ to redis$/, '');

/** @returns whether a request that is under way while a fault lasts can be hurt by it */
export function canHurtRequest({ fault, target }: Fault, asked: Invoke, views: Views): boolean {
  if (HURT.get(fault)?.(asked.f) === false) return false;
  const place = placeOf(target);
  if (EVERYTHING.has(place) || asked.process === place || asked.client === place) return true;
  // Or it is to be told to somebody there.
  const told = 'room' in asked && TOLD.has(asked.f) ? views.in(asked.room) : [];
  return told.some(({ client, process }) => client === place || process === place);
}

/** @returns whether what is delivered, or a connection that ends, while a fault lasts, is at its target */
export function isAtTarget(
  { target }: Fault,
  { client, process }: Pick<Delivery, 'client' | 'process'>,
): boolean {
  const place = placeOf(target);
  return client === place || process === place;
}
