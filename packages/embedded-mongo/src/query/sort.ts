import { type Document, isDocument, isNullish, numericValue } from '../values/bson-types.js';
import { CommandError, notServed, typeMismatch } from '../values/errors.js';
import { type FieldOrder, orderKey, parsePath } from '../values/field-path.js';

/** Parses a sort specification; an empty one is no sort. Throws TypeMismatch (14), 15975 or 16410 as mongod does. */
export function parseSort(sort: unknown): FieldOrder[] {
  if (isNullish(sort)) return [];
  if (!isDocument(sort)) throw typeMismatch('Expected field sort to be of type object');
  return Object.keys(sort).map((name) => {
    if (isDocument(sort[name])) throw notServed(`sorting by an expression (field '${name}')`);
    const direction = numericValue(sort[name]);
    if (direction !== 1 && direction !== -1)
      throw new CommandError(15975, '$sort key ordering must be 1 (for ascending) or -1 (for descending)');
    return { name, path: parsePath(name), descending: direction === -1 };
  });
}

/** Sorts items by their documents. Equal ones keep their order. */
export function sortBy<T extends { document: Document }>(
  items: Iterable<T>,
  sort: readonly FieldOrder[],
): T[] {
  return Array.from(items, (item) => ({ item, key: orderKey(sort, item.document) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ item }) => item);
}
