import type { ConnectionSpec, Target } from './clients/connection.js';
import type { WorkerPool } from './clients/worker-pool.js';
import { isShort, type Lengths, type LoadOptions } from './options.js';

/** Connections of a warm-up, each of which sends. */
export const WARM_UP_SENDERS = 20;

/** Its duration, s: some thousands of messages. */
const SECONDS = 2;

/** Characters of a message. */
const LENGTH = 100;

/**
 * How long a warm-up, or a pause, before a measurement is, s: code that is not compiled yet may cost twice as much, and caches
 * may still hold what was measured before. In a short run no longer than the measurement.
 */
export const preparationFor = (options: Lengths, needed: number): number =>
  isShort(options) ? Math.min(needed, options.seconds) : needed;

/**
 * Sends messages as fast as they are answered to the few connections of a room, and closes them. V8 interprets what has run
 * a few hundred times, as in a paced measurement of seconds; in a process that has run for minutes it is compiled.
 * @param sides the connections of each server, all of one room
 */
export async function warmUp(
  pool: WorkerPool,
  sides: { target: Target; specs: ConnectionSpec[] }[],
  options: LoadOptions,
): Promise<void> {
  for (const { target, specs } of sides) await pool.openAll(target, specs);
  await pool.flow({ length: LENGTH, seconds: preparationFor(options, SECONDS) });
  await pool.settle((await pool.read()).sent * WARM_UP_SENDERS);
  await pool.cut();
  await pool.reset();
}
