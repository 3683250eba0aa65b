import fc from 'fast-check';
import { nextTurn } from '../support/eventually.js';

/** Schedules of each model. */
const SCHEDULES = Number(process.env.SCHEDULES ?? 10_000);

/** Many times as many as any schedule needs. */
const MAX_STEPS = 5_000;

/** Longest time of one schedule, ms. All together may take as long as a busy machine needs. */
const ONE_MS = 300_000;

/** Lets the scheduled steps take place one at a time, in the order that the scheduler chooses, until nothing is left to do. */
async function runAll(scheduler: fc.Scheduler): Promise<void> {
  for (let idle = 0, steps = 0; idle < 3; ) {
    if (scheduler.count() > 0) {
      idle = 0;
      steps += 1;
      if (steps > MAX_STEPS) throw new Error(`it has not ended after ${MAX_STEPS} steps`);
      await scheduler.waitNext(1);
    } else {
      idle += 1;
      // What the code under test leaves to a later turn of the event loop.
      await nextTurn();
    }
  }
}

/**
 * A test of a model in SCHEDULES orders of its steps. Prints its seed; a failure is shrunk, and printed with its steps.
 *
 * @param program what is done
 * @param start begins it, on new state, with `step` before each thing that may happen in any order
 * @returns checks what must hold once nothing is left to do; what it begins itself is done when `settle` resolves
 */
export function everySchedule<T>(
  title: string,
  program: fc.Arbitrary<T>,
  start: (
    program: T,
    step: (label: string) => Promise<void>,
  ) => (settle: () => Promise<void>) => void | Promise<void>,
): void {
  it(`${title}, in ${SCHEDULES} schedules`, async function () {
    const seed = Number(process.env.SCHEDULE_SEED ?? Math.floor(Math.random() * 2 ** 31));
    process.stdout.write(`      SCHEDULE_SEED=${seed}\n`);
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), program, async (scheduler, given) => {
        // Starts mocha's time limit anew.
        this.timeout(ONE_MS);
        const check = start(given, (label) => scheduler.schedule(Promise.resolve(), label));
        const settle = () => runAll(scheduler);
        await settle();
        await check(settle);
      }),
      { numRuns: SCHEDULES, seed },
    );
  });
}
