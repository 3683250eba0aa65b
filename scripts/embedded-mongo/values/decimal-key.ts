import type { Decimal128 } from 'bson';

/** An exact decimal: coefficient * 10^exponent. */
interface Exact {
  coefficient: bigint;
  exponent: number;
}

/**
 * Splits a long beyond 2^53 or a Decimal128 into the nearest double and order-preserving bytes for the difference:
 * 80 for none, 81 + exponent + digits for a positive one, the same inverted for a negative one. With it, numbers of
 * all four types have one exact order.
 */
export function decimalRemainder(value: bigint | Decimal128): { nearest: number; remainder: Buffer } {
  const exact =
    typeof value === 'bigint' ? { coefficient: value, exponent: 0 } : parseDecimal(value.toString());
  if (typeof exact === 'number') return { nearest: exact, remainder: Buffer.of(0x80) };
  const rounded = Number(`${exact.coefficient}e${exact.exponent}`);
  // A decimal beyond the range of doubles stays below infinity.
  const nearest = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, rounded));
  const difference = subtract(exact, exactDouble(nearest));
  if (difference.coefficient === 0n) return { nearest, remainder: Buffer.of(0x80) };
  const negative = difference.coefficient < 0n;
  const digits = String(negative ? -difference.coefficient : difference.coefficient);
  const significant = digits.replace(/0+$/, '');
  const bytes = Buffer.alloc(3 + significant.length + 1);
  bytes[0] = 0x81;
  bytes.writeUInt16BE(digits.length + difference.exponent + 0x8000, 1);
  bytes.write(significant, 3);
  if (negative) for (let i = 0; i < bytes.length; i++) bytes[i] = ~(bytes[i] as number);
  return { nearest, remainder: bytes };
}

function parseDecimal(text: string): Exact | number {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/.exec(text);
  if (!match) return text.includes('NaN') ? Number.NaN : Number(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  return { coefficient: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

/** A finite double as mantissa * 2^e, written in decimal (2^-n is 5^n * 10^-n). */
function exactDouble(value: number): Exact {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = (biased === 0 ? fraction : fraction | 0x10000000000000n) * (bits >> 63n ? -1n : 1n);
  const power = (biased === 0 ? 1 : biased) - 1075;
  if (power >= 0) return { coefficient: mantissa << BigInt(power), exponent: 0 };
  return { coefficient: mantissa * 5n ** BigInt(-power), exponent: power };
}

function subtract(a: Exact, b: Exact): Exact {
  const exponent = Math.min(a.exponent, b.exponent);
  const scale = (x: Exact) => x.coefficient * 10n ** BigInt(x.exponent - exponent);
  return { coefficient: scale(a) - scale(b), exponent };
}
