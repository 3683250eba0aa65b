import { numericValue, TypeOrder, typeOrder } from './bson-types.js';
import { encodeValue } from './key-encoding.js';

/**
 * Orders two values as MongoDB does ("Comparison/Sort Order" in the manual): by type, then by value. A missing value
 * is undefined. Returns a negative number, 0 or a positive number.
 */
export function compareValues(a: unknown, b: unknown): number {
  const order = typeOrder(a);
  const types = order - typeOrder(b);
  if (types !== 0) return types;
  if (order === TypeOrder.number) {
    const [x, y] = [numericValue(a), numericValue(b)] as [number, number];
    if (x < y) return -1;
    if (x > y) return 1;
    // Equal, or one is NaN, which lies below all numbers and equals itself.
    return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
  }
  return Buffer.compare(encodeValue(a), encodeValue(b));
}

/** Whether two values are equal in MongoDB's sense: 1, 1.0 and NumberLong(1) are; {a,b} and {b,a} are not. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' || typeof a === 'boolean') return a === b;
  return compareValues(a, b) === 0;
}
