import { CommandError } from '../values/errors.js';

/** Records between two looks at the clock. */
const RECORDS = 32;

/** When the running operation has to end, performance.now(). Operations run one at a time, each without a break. */
let until = Number.POSITIVE_INFINITY;
let records = 0;

/** Runs an operation within its `maxTimeMS`, ms; 0: unlimited. Waiting for other operations does not count. */
export function withinTime<T>(ms: number, run: () => T): T {
  if (ms === 0) return run();
  until = performance.now() + ms;
  try {
    return run();
  } finally {
    until = Number.POSITIVE_INFINITY;
  }
}

/** To be called for each record read. Throws MaxTimeMSExpired (50) after the time of the running operation. */
export function checkTime(): void {
  records += 1;
  if (records % RECORDS === 0 && performance.now() > until)
    throw new CommandError(50, 'operation exceeded time limit');
}
