import { type Document, isDocument } from './bson-types.js';
import { badValue, CommandError, notServed } from './errors.js';
import { encodeFields } from './key-encoding.js';

/** A dotted path, split. */
export type FieldPath = readonly string[];

/** A field that an index or a sort orders by. */
export interface FieldOrder {
  name: string;
  path: FieldPath;
  descending: boolean;
}

/** Splits a dotted path. Throws BadValue for empty components, 16410 for one that begins with `$`, as mongod does. */
export function parsePath(path: string): FieldPath {
  const parts = path.split('.');
  if (parts.includes('')) throw badValue(`The field path '${path}' contains an empty component`);
  if (parts.some((part) => part.startsWith('$')))
    throw new CommandError(16410, `FieldPath field names may not start with '$', as in '${path}'`);
  return parts;
}

/** Whether a path component may be an array index. */
export const isArrayIndex = (part: string): boolean => /^(0|[1-9]\d{0,9})$/.test(part);

/**
 * Visits the values at a path of a document, as query operators do ("Query an Array of Embedded Documents" in
 * the manual): arrays on the way are entered, each embedded document in them continues the path, and a
 * numeric component also means a position. The last value is visited unchanged (an array not expanded),
 * undefined if a document or scalar has no such field. Scalars inside arrays have no fields and are not
 * visited.
 *
 * Stops and returns true as soon as `visit` does.
 */
export function someAtPath(
  value: unknown,
  path: FieldPath,
  visit: (value: unknown) => boolean,
  at = 0,
): boolean {
  if (at === path.length) return visit(value);
  const part = path[at] as string;
  if (Array.isArray(value)) {
    for (const item of value) if (isDocument(item) && someAtPath(item, path, visit, at)) return true;
    return isArrayIndex(part) && Number(part) < value.length
      ? someAtPath(value[Number(part)], path, visit, at + 1)
      : false;
  }
  if (!isDocument(value) || !Object.hasOwn(value, part)) return visit(undefined);
  return someAtPath(value[part], path, visit, at + 1);
}

/** The value that an index or a sort orders by. Throws NotImplemented (238) where an array is on the path. */
export function orderedValue({ name, path }: FieldOrder, document: Document): unknown {
  let value: unknown = document;
  for (let at = 0; ; at++) {
    if (Array.isArray(value)) throw notServed(`an array in '${name}', a field to index or sort by,`);
    if (at === path.length) return value;
    const part = path[at] as string;
    if (!isDocument(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
}

/** The byte key of a document in an index or a sort; a missing field counts as null. */
export function orderKey(fields: readonly FieldOrder[], document: Document): Buffer {
  return encodeFields(
    fields.map((field) => orderedValue(field, document) ?? null),
    fields.map((field) => field.descending),
  );
}
