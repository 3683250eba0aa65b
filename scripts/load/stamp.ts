/**
 * The mark in a message's text by which a client knows when it was sent: `@T`, 16 digits of µs on the
 * clock that all processes of a machine share, a full stop, and 8 digits counted up by its sender.
 */
export const STAMP_LENGTH = 27;

const AT = 0x40;
const T = 0x54;

/** From performance.now() of this process to the monotonic clock, in µs. */
const [seconds, nanos] = process.hrtime();
const OFFSET = seconds * 1e6 + nanos / 1e3 - performance.now() * 1e3;

/** The monotonic clock, µs; the same in every process of this machine. */
export function nowMicros(): number {
  return performance.now() * 1e3 + OFFSET;
}

/** A text of this length, at least the stamp's, that begins with a stamp of this moment. */
export function stampedText(count: number, length: number): string {
  const stamp = `@T${String(Math.round(nowMicros())).padStart(16, '0')}.${String(count).padStart(8, '0')}`;
  return stamp.padEnd(length, ' the quick brown fox jumps over the lazy dog');
}

/** Where the stamp in these bytes begins, -1 for none. @param hint where the last one was */
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

/** When the stamp at this place was made, µs. */
export function stampedAt(bytes: Buffer, at: number): number {
  return digits(bytes, at + 2, 16);
}

/** The sender's count in the stamp at this place. */
export function stampCount(bytes: Buffer, at: number): number {
  return digits(bytes, at + 19, 8);
}
