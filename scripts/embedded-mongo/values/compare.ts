import { numericValue, typeOrder } from './bson-types.js';
import { encodeValue } from './key-encoding.js';

/**
 * Orders two values as MongoDB does ("Comparison/Sort Order" in the manual): by type, then by value. A missing value
 * is undefined. Returns a negative number, 0 or a positive number.
 */
export function compareValues(a: unknown, b: unknown): number {
  const types = typeOrder(a) - typeOrder(b);
  if (types !== 0) return types;
  const x = numericValue(a);
  const y = numericValue(b);
  if (x !== undefined && y !== undefined) {
    if (x === y) return 0;
    if (x < y) return -1;
    if (x > y) return 1;
  }
  // What is left, NaN included, has its order in its key.
  return Buffer.compare(encodeValue(a), encodeValue(b));
}

/** Whether two values are equal in MongoDB's sense: 1, 1.0 and NumberLong(1) are; {a,b} and {b,a} are not. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' || typeof a === 'boolean') return a === b;
  return compareValues(a, b) === 0;
}
