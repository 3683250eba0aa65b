import { AppError } from '../kernel/errors.js';

/** Runs a task in its turn. @throws AppError RATE_LIMITED if too many wait */
export type Turns = <R>(task: () => Promise<R>) => Promise<R>;

/**
 * Runs few tasks at a time, for work that would take a backend from everybody else.
 *
 * @param atOnce tasks that run at once
 * @param most tasks that wait for their turn at most
 * @param onRefused called for each one more
 * @returns runs a task; `waiting` tells how many wait
 */
export function createTurns(
  atOnce: number,
  most: number,
  onRefused = () => {},
): Turns & { waiting(): number } {
  let running = 0;
  const queue: (() => void)[] = [];
  async function run<R>(task: () => Promise<R>): Promise<R> {
    if (running < atOnce) running += 1;
    else if (queue.length >= most) {
      onRefused();
      throw new AppError('RATE_LIMITED', 'too many at once');
    } else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await task();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  }
  return Object.assign(run, { waiting: () => queue.length });
}
