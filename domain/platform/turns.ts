import { AppError } from '../kernel/errors.js';

/** Runs a task in its turn. @throws AppError RATE_LIMITED if too many wait */
export type Turns = <R>(task: () => Promise<R>) => Promise<R>;

/**
 * Runs few tasks at a time, for work that would take a backend from everybody else.
 *
 * @param atOnce tasks that run at once
 * @param waiting tasks that wait for their turn at most
 */
export function createTurns(atOnce: number, waiting: number): Turns {
  let running = 0;
  const queue: (() => void)[] = [];
  return async (task) => {
    if (running < atOnce) running += 1;
    else if (queue.length >= waiting) throw new AppError('RATE_LIMITED', 'too many at once');
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await task();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
