import type { Reader } from '../storage/storage.js';
import { numericValue } from '../values/bson-types.js';
import { badValue, CommandError } from '../values/errors.js';

/** `maxTimeMS`: how long a command, with all the batches of its cursor, may work. Time between batches is free. */
export class TimeLimit {
  /** On the clock of performance.now(); while paused, what is left. */
  private until: number;

  constructor(milliseconds: number) {
    this.until = performance.now() + milliseconds;
  }

  /** Throws MaxTimeMSExpired (50) when the time is over. */
  check(): void {
    if (performance.now() > this.until) throw new CommandError(50, 'operation exceeded time limit');
  }

  pause(): void {
    this.until -= performance.now();
  }

  resume(): void {
    this.until += performance.now();
  }

  /** The reader, checked whenever it is used: all long work reads on and on. */
  limited(reader: Reader): Reader {
    const check = () => this.check();
    return {
      get generation() {
        return reader.generation;
      },
      get(key) {
        check();
        return reader.get(key);
      },
      entries(range, limit) {
        check();
        return reader.entries(range, limit);
      },
      count(start, end) {
        check();
        return reader.count(start, end);
      },
    };
  }
}

/** The limit of a command, from now; 0 is none. Throws BadValue (2) for what is no whole number from 0 to 2^31 - 1. */
export function parseTimeLimit(value: unknown): TimeLimit | undefined {
  if (value === undefined || value === null) return undefined;
  const number = Number(numericValue(value));
  if (!Number.isInteger(number)) throw badValue('maxTimeMS must be a whole number of milliseconds');
  if (number < 0 || number > 0x7fffffff)
    throw badValue(`${number} value for maxTimeMS is out of range [0, 2147483647]`);
  return number === 0 ? undefined : new TimeLimit(number);
}
