/**
 * Length of the stamp in a message's text: `@T`, the time of sending as 16 digits of µs on the machine's monotonic
 * clock, a full stop, and the sender's count as 8 digits.
 */
export const STAMP_LENGTH = 27;

const AT = 0x40;
const T = 0x54;

/** Monotonic clock minus this process's performance.now(), µs. */
const [seconds, nanos] = process.hrtime();
const OFFSET = seconds * 1e6 + nanos / 1e3 - performance.now() * 1e3;

/** The monotonic clock, µs; the same in every process of this machine. */
export function nowMicros(): number {
  return performance.now() * 1e3 + OFFSET;
}

/** A text that begins with a stamp of this moment. @param length in characters, at least the stamp's */
export function stampedText(count: number, length: number): string {
  const stamp = `@T${String(Math.round(nowMicros())).padStart(16, '0')}.${String(count).padStart(8, '0')}`;
  return stamp.padEnd(length, ' the quick brown fox jumps over the lazy dog');
}

/** Where the stamp in these bytes begins; -1 for none. @param hint offset where it is looked for first */
export function findStamp(bytes: Buffer, from: number, to: number, hint: number): number {
  const guess = from + hint;
  if (guess + STAMP_LENGTH <= to && bytes[guess] === AT && bytes[guess + 1] === T) return guess;
  for (let i = from; i + STAMP_LENGTH <= to; i += 1) if (bytes[i] === AT && bytes[i + 1] === T) return i;
  return -1;
}

function digits(bytes: Buffer, from: number, count: number): number {
  let value = 0;
  for (let i = from; i < from + count; i += 1) value = value * 10 + ((bytes[i] as number) - 0x30);
  return value;
}

/** Time of the stamp at this position, µs. */
export function stampedAt(bytes: Buffer, at: number): number {
  return digits(bytes, at + 2, 16);
}

/** The sender's count in the stamp at this position. */
export function stampCount(bytes: Buffer, at: number): number {
  return digits(bytes, at + 19, 8);
}
