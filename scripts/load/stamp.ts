/** Length of the stamp in a message's text: `@T` and when it was due, 16 digits of µs of the monotonic clock. */
export const STAMP_LENGTH = 18;

const AT = 0x40;
const T = 0x54;

/** The monotonic clock, µs; the same in every process of this machine. */
export function nowMicros(): number {
  return Number(process.hrtime.bigint()) / 1e3;
}

/**
 * A text that begins with a stamp.
 * @param length in characters, at least the stamp's
 * @param dueAt when it is due, µs: a latency counts from then, even if it is sent later
 */
export function stampedText(length: number, dueAt = nowMicros()): string {
  const stamp = `@T${String(Math.round(dueAt)).padStart(16, '0')}`;
  return stamp.padEnd(length, ' the quick brown fox jumps over the lazy dog');
}

/** Where the stamp in these bytes begins; -1 for none. @param hint offset tried first */
export function findStamp(bytes: Buffer, from: number, to: number, hint: number): number {
  const guess = from + hint;
  if (guess + STAMP_LENGTH <= to && bytes[guess] === AT && bytes[guess + 1] === T) return guess;
  for (let i = from; i + STAMP_LENGTH <= to; i += 1) if (bytes[i] === AT && bytes[i + 1] === T) return i;
  return -1;
}

/** Time of the stamp at this position, µs. */
export function stampedAt(bytes: Buffer, at: number): number {
  let micros = 0;
  for (let i = at + 2; i < at + STAMP_LENGTH; i += 1) micros = micros * 10 + ((bytes[i] as number) - 0x30);
  return micros;
}
