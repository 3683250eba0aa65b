import type { FilterNode, Range } from '../query/filter.js';
import { TypeOrder, typeOrder } from '../values/bson-types.js';
import { encodeValue } from '../values/key-encoding.js';

/** Key bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  start: Buffer;
  end: Buffer;
}

/** What a filter requires of an index field: some points, or one range; exact if nothing else. */
export interface FieldBounds {
  /** Encoded values in key order, one of which the field must equal. */
  points?: Buffer[];
  range?: ByteRange;
  exact: boolean;
}

/** The bounds that a predicate sets on its field; undefined if an index does not help. */
export function boundsOf(node: FilterNode): FieldBounds | undefined {
  if (node.kind === 'in') return points(node.values, true);
  if (node.kind === 'range') return { range: rangeOf(node.op, node.value), exact: true };
  // A missing field and null have the same key: the document must be checked.
  if (node.kind === 'not' && node.child.kind === 'exists') return points([null], false);
  return undefined;
}

function points(values: readonly unknown[], exact: boolean): FieldBounds {
  const keys = new Map(values.map(encodeValue).map((key) => [key.toString('latin1'), key]));
  return { points: [...keys.values()].sort(Buffer.compare), exact };
}

function rangeOf(op: Range, value: unknown): ByteRange {
  const order = typeOrder(value);
  const key = encodeValue(value);
  if (op === 'gt' || op === 'gte')
    return { start: op === 'gt' ? above(key) : key, end: Buffer.of(order + 1) };
  // NaN lies below all numbers in an index, but is not "less than" any.
  const start = order === TypeOrder.number ? above(encodeValue(Number.NaN)) : Buffer.of(order);
  return { start, end: op === 'lt' ? key : above(key) };
}

/** The intersection of two bounds of one field: points win, ranges narrow each other. */
export function intersect(a: FieldBounds, b: FieldBounds): FieldBounds {
  if (a.range && b.range) {
    const start = Buffer.compare(a.range.start, b.range.start) > 0 ? a.range.start : b.range.start;
    const end = Buffer.compare(a.range.end, b.range.end) < 0 ? a.range.end : b.range.end;
    return { range: { start, end }, exact: a.exact && b.exact };
  }
  const [x, y] = [a.points?.length ?? Number.POSITIVE_INFINITY, b.points?.length ?? Number.POSITIVE_INFINITY];
  return { ...(x <= y ? a : b), exact: false };
}

/** The bounds of a field that its index has in descending order. */
export function inverted({ points, range, exact }: FieldBounds): FieldBounds {
  if (points) return { points: points.map(invert).reverse(), exact };
  // Start and end swap, and with them which of them is included.
  return range
    ? { range: { start: above(invert(range.end)), end: above(invert(range.start)) }, exact }
    : { exact };
}

/** The first key above every key that begins with `prefix`. */
export function above(prefix: Buffer): Buffer {
  let end = prefix.length;
  while (prefix[end - 1] === 0xff) end--;
  const next = Buffer.from(prefix.subarray(0, end));
  next[end - 1] = (next[end - 1] as number) + 1;
  return next;
}

const invert = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => ~byte));
