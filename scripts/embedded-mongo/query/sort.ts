import { encodeTuple, keyTuples } from '../indexes/index-keys.js';
import { type Document, isDocument, numericValue } from '../values/bson-types.js';
import { CommandError, notServed, typeMismatch } from '../values/errors.js';
import { type FieldPath, parsePath, refuseDollarNames } from '../values/field-path.js';

export interface SortField {
  name: string;
  path: FieldPath;
  descending: boolean;
}

/** mongod's limit for a sort without an index. */
const MAX_SORT_BYTES = 100 * 1024 * 1024;

/** Parses a sort specification; an empty one is no sort. Throws TypeMismatch (14), 15975 or 16410 as mongod. */
export function parseSort(sort: unknown): SortField[] {
  if (sort === undefined || sort === null) return [];
  if (!isDocument(sort)) throw typeMismatch('Expected field sort to be of type object');
  return Object.keys(sort).map((name) => {
    const direction = sort[name];
    if (isDocument(direction))
      throw notServed(`sorting by ${JSON.stringify(Object.keys(direction)[0] ?? {})}`);
    const number = Number(numericValue(direction));
    if (number !== 1 && number !== -1)
      throw new CommandError(15975, `$sort key ordering must be 1 (for ascending) or -1 (for descending)`);
    const path = parsePath(name);
    if (name !== '$natural') refuseDollarNames(path);
    return { name, path, descending: number === -1 };
  });
}

/**
 * The byte key of a document in a sort. Of an array the smallest element counts when ascending and the largest
 * when descending ("Sort with Arrays"); a missing field counts as null, an empty array below null.
 */
export function sortKey(sort: readonly SortField[], document: Document): Buffer {
  const descending = sort.map((field) => field.descending);
  const { tuples } = keyTuples(
    document,
    sort.map((field) => field.path),
  );
  let smallest: Buffer | undefined;
  for (const tuple of tuples) {
    const key = encodeTuple(tuple, descending);
    if (!smallest || Buffer.compare(key, smallest) < 0) smallest = key;
  }
  return smallest as Buffer;
}

interface Sorted<T> {
  key: Buffer;
  item: T;
}

/** Sorts what it is given by byte key, keeping no more than `limit` (0: all). Equal keys stay in order of arrival. */
export class TopSorter<T> {
  private items: Sorted<T>[] = [];
  private bytes = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** `bytes` is the size of the item. Throws 292 when a sort needs more memory than mongod would give it. */
  add(key: Buffer, item: T, bytes: number): void {
    this.items.push({ key, item });
    this.bytes += bytes + key.length;
    if (this.limit > 0 && this.items.length > 2 * this.limit + 1000) this.cut();
    if (this.bytes > MAX_SORT_BYTES)
      throw new CommandError(292, `Sort exceeded memory limit of ${MAX_SORT_BYTES} bytes`);
  }

  finish(): T[] {
    this.cut();
    return this.items.map((entry) => entry.item);
  }

  private cut(): void {
    this.items.sort((a, b) => Buffer.compare(a.key, b.key));
    if (this.limit === 0 || this.items.length <= this.limit) return;
    this.bytes = Math.round((this.bytes * this.limit) / this.items.length);
    this.items.length = this.limit;
  }
}
