import { type Document, isDocument, setOwn, typeInfo } from './bson-types.js';
import { badValue, CommandError } from './errors.js';
import { type FieldPath, isArrayIndex, valueAt } from './field-path.js';
import type { FilterNode } from './filter.js';
import type { Matcher } from './matcher.js';
import { matchedPosition } from './positional.js';

/** What positional path components need to know. */
export interface PositionalContext {
  /** The query, for `$`. */
  filter: FilterNode;
  arrayFilters: ReadonlyMap<string, Matcher>;
  isInsert: boolean;
}

/** mongod pads an array with nulls up to a set index, to this many. */
const MAX_PADDING = 1_500_000;

/** Whether a path component stands for positions of an array: `$`, `$[]` or `$[identifier]`. */
export function isPositional(part: string): boolean {
  return /^\$(\[\w*\])?$/.test(part);
}

/**
 * Replaces `$`, `$[]` and `$[identifier]` by the positions they mean in this document, which must be as the query
 * found it: what an update changes moves none of its own positions.
 * Throws BadValue (2) when `$` matched nothing or the place is no array.
 */
export function expandPath(document: Document, path: FieldPath, context: PositionalContext): FieldPath[] {
  const at = path.findIndex(isPositional);
  if (at < 0) return [path];
  const part = path[at] as string;
  const before = path.slice(0, at);
  const array = valueAt(document, before);
  const where = before.join('.');
  const expand = (position: number) =>
    expandPath(document, [...before, String(position), ...path.slice(at + 1)], context);
  if (part === '$') {
    const position = context.isInsert ? -1 : matchedPosition(document, context.filter);
    if (position < 0 || !Array.isArray(array))
      throw badValue('The positional operator did not find the match needed from the query.');
    return expand(position);
  }
  if (array === undefined)
    throw badValue(`The path '${where}' must exist in the document in order to apply array updates.`);
  if (!Array.isArray(array))
    throw badValue(`Cannot apply array updates to non-array element ${where}: ${typeInfo(array).alias}`);
  const matches = part === '$[]' ? () => true : context.arrayFilters.get(part.slice(2, -1));
  return array.flatMap((element, position) => (matches?.(element) ? expand(position) : []));
}

/** The container of a path's last component, and that component. */
export interface Slot {
  container: Document | unknown[];
  key: string;
}

/**
 * Walks to the container of the last component. With `create`, missing documents on the way are made and a scalar
 * on the way throws PathNotViable (28); without, undefined is returned for both.
 */
export function slotAt(document: Document, path: FieldPath, create: boolean): Slot | undefined {
  let container: Document | unknown[] = document;
  for (const [i, part] of path.entries()) {
    if (Array.isArray(container) && !isArrayIndex(part)) {
      if (!create) return undefined;
      throw notViable(part, path[i - 1] ?? '', container);
    }
    if (i === path.length - 1) return { container, key: part };
    let next = readSlot({ container, key: part });
    if (next === undefined) {
      if (!create) return undefined;
      next = {};
      writeSlot({ container, key: part }, next);
    }
    if (!Array.isArray(next) && !isDocument(next)) {
      if (!create) return undefined;
      throw notViable(path[i + 1] as string, part, next);
    }
    container = next as Document | unknown[];
  }
  return undefined;
}

function notViable(field: string, name: string, value: unknown): CommandError {
  return new CommandError(28, `Cannot create field '${field}' in element {${name}: ${preview(value)}}`);
}

function preview(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

export function readSlot({ container, key }: Slot): unknown {
  if (Array.isArray(container)) return container[Number(key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

export function writeSlot({ container, key }: Slot, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value);
    return;
  }
  const index = Number(key);
  if (index - container.length > MAX_PADDING)
    throw badValue(`can't backfill more than ${MAX_PADDING} elements`);
  while (container.length < index) container.push(null);
  container[index] = value;
}
