import { Decimal128 } from 'bson';
import type { FilterNode } from '../query/filter.js';
import { literalPrefix } from '../query/regex.js';
import { isNullish } from '../values/bson-order.js';
import { numericValue, TypeOrder, typeOrder } from '../values/bson-types.js';
import { encodeValue } from '../values/key-encoding.js';

/** One side of an interval: the bytes of a key, or of the beginning of keys, and whether those belong to it. */
interface Side {
  bytes: Buffer;
  inclusive: boolean;
}

/** What a filter says about one index field: some points, or one range; exact when it says no more than that. */
export interface FieldBounds {
  /** Encoded values in key order, when the field must equal one of them. */
  points?: Buffer[];
  lower?: Side;
  upper?: Side;
  exact: boolean;
}

/** The bounds one predicate sets on its field, or undefined when an index does not help it. */
export function boundsOf(node: FilterNode): FieldBounds | undefined {
  switch (node.kind) {
    case 'compare': {
      const { op, value } = node;
      if (Array.isArray(value)) return undefined;
      if (op === 'eq') return points([value], true);
      if (isNullish(value)) return op === 'gte' || op === 'lte' ? points([null], true) : undefined;
      return range(op, value);
    }
    case 'in':
      if (node.patterns.length > 0 || node.values.some(Array.isArray)) return undefined;
      return points(node.values, true);
    case 'not':
      // A missing field has the key of null, as null itself has: the document must be looked at.
      return node.child.kind === 'exists' ? points([null], false) : undefined;
    case 'regex': {
      const prefix = literalPrefix(node.source);
      if (prefix === undefined) return undefined;
      // Without the end mark of the string: everything that begins with the prefix.
      const bytes = encodeValue(prefix).subarray(0, -2);
      const side = { bytes, inclusive: true };
      return { lower: side, upper: side, exact: false };
    }
    default:
      return undefined;
  }
}

function points(values: readonly unknown[], exact: boolean): FieldBounds {
  const keys = new Map<string, Buffer>();
  for (const value of values) {
    const key = encodeValue(isNullish(value) ? null : value);
    keys.set(key.toString('latin1'), key);
  }
  return { points: [...keys.values()].sort(Buffer.compare), exact };
}

function range(op: 'gt' | 'gte' | 'lt' | 'lte', value: unknown): FieldBounds | undefined {
  const order = typeOrder(value);
  if (order === TypeOrder.minKey || order === TypeOrder.maxKey) return undefined;
  const number = value instanceof Decimal128 ? Number(String(value)) : Number(numericValue(value) ?? 0);
  if (Number.isNaN(number)) return undefined;
  const side = { bytes: encodeValue(value), inclusive: op === 'gte' || op === 'lte' };
  const type = { bytes: Buffer.of(order), inclusive: true };
  if (op === 'gt' || op === 'gte') return { lower: side, upper: type, exact: true };
  // NaN lies below all numbers in an index, but is not "less than" any.
  const lower = order === TypeOrder.number ? { bytes: encodeValue(Number.NaN), inclusive: false } : type;
  return { lower, upper: side, exact: true };
}

/** The intersection of two bounds of one field: points win, ranges narrow each other. */
export function intersect(a: FieldBounds, b: FieldBounds): FieldBounds {
  if (a.points || b.points) {
    const [kept] = a.points && (!b.points || a.points.length <= b.points.length) ? [a] : [b];
    return { ...(kept as FieldBounds), exact: false };
  }
  return {
    lower: Buffer.compare(startOf(a.lower as Side), startOf(b.lower as Side)) >= 0 ? a.lower : b.lower,
    upper: Buffer.compare(endOf(a.upper as Side), endOf(b.upper as Side)) <= 0 ? a.upper : b.upper,
    exact: a.exact && b.exact,
  } as FieldBounds;
}

/** Points of a field as they stand in its index. */
export function storedPoints(bounds: FieldBounds, descending: boolean): Buffer[] {
  const keys = bounds.points ?? [];
  return descending ? keys.map(invert).reverse() : keys;
}

/** A range of a field as byte keys in its index: from `start` up to, not including, `end`. */
export function storedRange(bounds: FieldBounds, descending: boolean): { start: Buffer; end: Buffer } {
  const lower = bounds.lower as Side;
  const upper = bounds.upper as Side;
  if (!descending) return { start: startOf(lower), end: endOf(upper) };
  return {
    start: startOf({ bytes: invert(upper.bytes), inclusive: upper.inclusive }),
    end: endOf({ bytes: invert(lower.bytes), inclusive: lower.inclusive }),
  };
}

/** The first key above every key that begins with `prefix`. */
export function above(prefix: Buffer): Buffer {
  let end = prefix.length;
  while (prefix[end - 1] === 0xff) end--;
  const next = Buffer.from(prefix.subarray(0, end));
  next[end - 1] = (next[end - 1] as number) + 1;
  return next;
}

function startOf(side: Side): Buffer {
  return side.inclusive ? side.bytes : above(side.bytes);
}

function endOf(side: Side): Buffer {
  return side.inclusive ? above(side.bytes) : side.bytes;
}

function invert(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => ~byte));
}
