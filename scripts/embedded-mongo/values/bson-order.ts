import { type Binary, Decimal128, type ObjectId, type Timestamp } from 'bson';
import { type Document, numericValue, regexParts, TypeOrder, typeOrder } from './bson-types.js';
import { encodeValue } from './key-encoding.js';

/**
 * Orders two values as MongoDB does ("Comparison/Sort Order" in the manual): by type first, then by value.
 * A missing value is passed as undefined. Returns a negative number, 0 or a positive number.
 */
export function compareValues(a: unknown, b: unknown): number {
  const order = typeOrder(a);
  const otherOrder = typeOrder(b);
  if (order !== otherOrder) return order - otherOrder;
  switch (order) {
    case TypeOrder.number:
      return compareNumbers(a, b);
    case TypeOrder.string:
      return compareStrings(String(a), String(b));
    case TypeOrder.object:
      return compareDocuments(a as Document, b as Document);
    case TypeOrder.array:
      return compareArrays(a as unknown[], b as unknown[]);
    case TypeOrder.binary:
      return compareBinaries(a as Binary, b as Binary);
    case TypeOrder.objectId:
      return Buffer.compare((a as ObjectId).id, (b as ObjectId).id);
    case TypeOrder.boolean:
      return Number(a) - Number(b);
    case TypeOrder.date:
      return (a as Date).getTime() - (b as Date).getTime();
    case TypeOrder.timestamp:
      return compareTimestamps(a as Timestamp, b as Timestamp);
    case TypeOrder.regex: {
      const [x, y] = [regexParts(a), regexParts(b)];
      return compareStrings(x.pattern, y.pattern) || compareStrings(x.options, y.options);
    }
    default:
      return 0;
  }
}

/** Whether two values are equal in MongoDB's sense: 1, 1.0 and NumberLong(1) are; {a,b} and {b,a} are not. */
export function equalValues(a: unknown, b: unknown): boolean {
  return compareValues(a, b) === 0;
}

/** Whether a value is null or missing for the purposes of `{field: null}`. */
export function isNullish(value: unknown): boolean {
  return value === null || value === undefined;
}

/** Whether two values are compared at all by $gt and its kin: only values of one type bracket are. */
export function sameBracket(a: unknown, b: unknown): boolean {
  const order = typeOrder(a);
  return order === typeOrder(b) || order === TypeOrder.minKey || order === TypeOrder.maxKey;
}

function compareNumbers(a: unknown, b: unknown): number {
  // Decimal128 has no arithmetic in JavaScript; its exact, order-preserving key serves instead.
  if (a instanceof Decimal128 || b instanceof Decimal128)
    return Buffer.compare(encodeValue(a), encodeValue(b));
  const x = numericValue(a) as number;
  const y = numericValue(b) as number;
  if (x < y) return -1;
  if (x > y) return 1;
  if (x === y) return 0;
  // One is NaN, which MongoDB orders below every number and equal to itself.
  return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
}

/** By UTF-8 bytes, as mongod: UTF-16 units would order astral characters before U+E000..U+FFFF. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) {
      x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
      y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
    }
    return x - y;
  }
  return a.length - b.length;
}

function compareDocuments(a: Document, b: Document): number {
  const keysA = Object.keys(a);
  const keysB = Object.keys(b);
  const length = Math.min(keysA.length, keysB.length);
  for (let i = 0; i < length; i++) {
    const keyA = keysA[i] as string;
    const keyB = keysB[i] as string;
    const result =
      typeOrder(a[keyA]) - typeOrder(b[keyB]) ||
      compareStrings(keyA, keyB) ||
      compareValues(a[keyA], b[keyB]);
    if (result !== 0) return result;
  }
  return keysA.length - keysB.length;
}

function compareArrays(a: unknown[], b: unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const result = compareValues(a[i], b[i]);
    if (result !== 0) return result;
  }
  return a.length - b.length;
}

function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return a.t - b.t || a.i - b.i;
}

function compareBinaries(a: Binary, b: Binary): number {
  return a.length() - b.length() || a.sub_type - b.sub_type || Buffer.compare(a.value(), b.value());
}
