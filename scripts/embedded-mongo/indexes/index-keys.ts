import { type Document, isDocument } from '../values/bson-types.js';
import { CommandError } from '../values/errors.js';
import { isArrayIndex } from '../values/field-path.js';
import { encodeFields } from '../values/key-encoding.js';
import type { IndexSpec } from './index-spec.js';

/** LMDB's limit for a key with the default page size; an index entry adds its record id to it. */
export const MAX_KEY_BYTES = 1978;
const OVERHEAD = 16;

/** The index keys of a document, and whether an array made them several. */
export interface IndexKeys {
  keys: Buffer[];
  multikey: boolean;
}

interface Cursor {
  value: unknown;
  rest: readonly string[];
}

/**
 * The keys of a document in an index, none where a sparse or partial index leaves it out.
 * Throws CannotIndexParallelArrays (171), 16746 where a number is a position and a field, and 17280 for a key that is too long to be stored.
 */
export function indexKeys(spec: IndexSpec, document: Document): IndexKeys {
  if (spec.partial && !spec.partial.matches(document)) return { keys: [], multikey: false };
  const { tuples, multikey } = keyTuples(
    document,
    spec.fields.map((field) => field.path),
  );
  if (spec.sparse && tuples.every((tuple) => tuple.every((value) => value === ABSENT)))
    return { keys: [], multikey: false };
  const unique = new Map<string, Buffer>();
  for (const tuple of tuples) {
    const key = encodeTuple(tuple, spec.descending);
    if (key.length > MAX_KEY_BYTES - OVERHEAD)
      throw new CommandError(
        17280,
        `Index key of '${spec.name}' is ${key.length} bytes long, more than ${MAX_KEY_BYTES - OVERHEAD}`,
      );
    if (tuples.length === 1) return { keys: [key], multikey };
    unique.set(key.toString('latin1'), key);
  }
  return { keys: [...unique.values()], multikey };
}

/** Marks a missing field, whose key is null; an empty array's is BSON's undefined, which is below null. */
const ABSENT = Symbol('absent');

/** The byte key of one tuple of keyTuples. */
export function encodeTuple(tuple: readonly unknown[], descending: readonly boolean[]): Buffer {
  return encodeFields(
    tuple.map((value) => (value === ABSENT ? null : value)),
    descending,
  );
}

/**
 * The tuples of values that an index (or a sort) on several paths sees in a document, as mongod's
 * BtreeKeyGenerator: one tuple, or one per element of the one array that lies on the paths.
 */
export function keyTuples(
  document: Document,
  paths: readonly (readonly string[])[],
): { tuples: unknown[][]; multikey: boolean } {
  const state = { tuples: [] as unknown[][], multikey: false };
  expand(
    paths.map((rest) => ({ value: document, rest })),
    state,
  );
  return state;
}

function expand(cursors: Cursor[], state: { tuples: unknown[][]; multikey: boolean }): void {
  const walked = cursors.map(walk);
  const array = walked.find((cursor) => Array.isArray(cursor.value) && !isSettled(cursor))?.value as
    | unknown[]
    | undefined;
  if (!array) {
    state.tuples.push(walked.map((cursor) => cursor.value));
    return;
  }
  state.multikey = true;
  if (walked.some((cursor) => Array.isArray(cursor.value) && !isSettled(cursor) && cursor.value !== array))
    throw new CommandError(171, 'cannot index parallel arrays');
  // BSON's deprecated undefined is found by `null`, so it is null in an index; an empty array is not.
  const elements =
    array.length === 0 ? [undefined] : array.map((element) => (element === undefined ? null : element));
  for (const element of elements)
    expand(
      walked.map((cursor) =>
        cursor.value === array && !isSettled(cursor) ? enter(cursor, element) : cursor,
      ),
      state,
    );
}

/** A cursor whose value is final although it is an array: an array inside the indexed array is one value. */
const SETTLED: readonly string[] = ['\0settled'];

function isSettled(cursor: Cursor): boolean {
  return cursor.rest === SETTLED;
}

function enter(cursor: Cursor, element: unknown): Cursor {
  if (cursor.rest.length === 0) return { value: element, rest: SETTLED };
  // The path goes on inside the elements; those that are no documents have no such field. An array that is an
  // element of an array is not entered again.
  return isDocument(element) ? { value: element, rest: cursor.rest } : { value: ABSENT, rest: SETTLED };
}

/** Follows a path until its end or an array. */
function walk(cursor: Cursor): Cursor {
  if (isSettled(cursor)) return cursor;
  let { value, rest } = cursor;
  while (rest.length > 0) {
    const [part, ...tail] = rest as [string, ...string[]];
    if (Array.isArray(value)) {
      if (!isArrayIndex(part) || Number(part) >= value.length) break;
      if (value.some((element) => isDocument(element) && Object.hasOwn(element, part)))
        throw new CommandError(
          16746,
          `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${part}'`,
        );
      value = value[Number(part)];
    } else if (isDocument(value) && Object.hasOwn(value, part) && value[part] !== undefined) {
      value = value[part];
    } else {
      return { value: ABSENT, rest: SETTLED };
    }
    rest = tail;
  }
  return { value, rest };
}
