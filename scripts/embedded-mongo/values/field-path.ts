import { type Document, isDocument } from './bson-types.js';
import { badValue, CommandError } from './errors.js';

/** A dotted path, split. */
export type FieldPath = readonly string[];

/** Stands for "there is no such field", which is not the same as a null there. */
const MISSING = undefined;

/** Splits a dotted path. Refuses what mongod refuses: empty components. */
export function parsePath(path: string): FieldPath {
  const parts = path.split('.');
  if (parts.some((part) => part === ''))
    throw badValue(`The field path '${path}' contains an empty component`);
  return parts;
}

/** Throws 16410, as mongod's FieldPath, for a component that begins with `$`. */
export function refuseDollarNames(path: FieldPath): void {
  if (path.some((part) => part.startsWith('$')))
    throw new CommandError(
      16410,
      `FieldPath field names may not start with '$', as in '${path.join('.')}'. Consider using $getField or $setField.`,
    );
}

/** Whether a path component may be an array index. */
export function isArrayIndex(part: string): boolean {
  return /^(0|[1-9]\d{0,9})$/.test(part);
}

/**
 * Visits what a path means in a document, the way query operators see it ("Query an Array of Embedded Documents"
 * in the manual): arrays on the way are entered, each embedded document in them continues the path, and a numeric
 * component also means a position. The last value is visited as it is (an array unexpanded); MISSING is visited
 * where a document or scalar has no such field. Scalars inside arrays have no fields and are not visited.
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
    if (!isArrayIndex(part)) return false;
    const index = Number(part);
    return index < value.length && someAtPath(value[index], path, visit, at + 1);
  }
  if (!isDocument(value) || !Object.hasOwn(value, part)) return visit(MISSING);
  return someAtPath(value[part], path, visit, at + 1);
}

/** The value at a path without entering arrays other than by position; MISSING when there is none. */
export function valueAt(document: Document, path: FieldPath): unknown {
  let value: unknown = document;
  for (const part of path) {
    if (Array.isArray(value)) value = isArrayIndex(part) ? value[Number(part)] : MISSING;
    else if (isDocument(value) && Object.hasOwn(value, part)) value = value[part];
    else return MISSING;
  }
  return value;
}
