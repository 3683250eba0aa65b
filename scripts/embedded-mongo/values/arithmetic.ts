import { Decimal128, Double, Int32, Long } from 'bson';
import { numericValue } from './bson-types.js';
import { badValue, notServed } from './errors.js';

const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

/** Adds as $inc does: the wider of the two types, int32 overflowing into long. Throws BadValue on long overflow. */
export function addNumbers(a: unknown, b: unknown): unknown {
  if (a instanceof Decimal128 || b instanceof Decimal128) throw notServed('Decimal128 arithmetic');
  const x = numericValue(a) as number | bigint;
  const y = numericValue(b) as number | bigint;
  if (!isInteger(a) || !isInteger(b)) return new Double(Number(x) + Number(y));
  const sum = BigInt(x) + BigInt(y);
  if (sum < MIN_LONG || sum > MAX_LONG) throw badValue('Failed to apply $inc operations: integer overflow');
  const fitsInt = sum >= -0x80000000n && sum <= 0x7fffffffn;
  return fitsInt && !(a instanceof Long) && !(b instanceof Long)
    ? new Int32(Number(sum))
    : Long.fromBigInt(sum);
}

function isInteger(value: unknown): boolean {
  return value instanceof Int32 || value instanceof Long;
}
