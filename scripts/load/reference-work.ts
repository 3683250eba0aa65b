import { fstatSync } from 'node:fs';
import { median } from './statistics.js';

/** Slices of the work, whose median counts, and rounds of a slice: some 2 ms each. */
const SLICES = 5;
const ROUNDS = 1_000;

/** Slices beforehand: after a pause caches are cold, and V8 may have dropped compiled code. */
const WARM_UP_SLICES = 25;

/** A fixed piece of work, like that of a server: texts, objects, system calls. @returns its CPU time, ms */
function slice(): number {
  const before = process.cpuUsage();
  let total = 0;
  for (let i = 0; i < ROUNDS; i += 1) {
    const text = JSON.stringify({ chatNo: i, content: 'x'.repeat(100), members: [i, i + 1], sentAt: i });
    total += JSON.parse(text).members.length + fstatSync(2).mode;
  }
  if (!Number.isFinite(total)) throw new Error('the reference work went wrong');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How fast the machine is at the moment, as CPU time of a fixed piece of work, ms. Virtual machines vary by a factor of two
 * within an hour: figures of two runs are compared in units of it.
 */
export function referenceWork(): number {
  for (let i = 0; i < WARM_UP_SLICES; i += 1) slice();
  return median(Array.from({ length: SLICES }, slice));
}
