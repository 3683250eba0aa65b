import { AppError } from '../../kernel/errors.js';

/**
 * Runs a task in its turn.
 * @param signal gives up a turn that has not come yet
 * @throws AppError RATE_LIMITED if too many wait; the signal's reason
 */
export type Turns = <R>(task: () => Promise<R>, signal?: AbortSignal) => Promise<R>;

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

  /** Resolves when the turn has come. */
  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        queue.splice(queue.indexOf(take), 1);
        reject(signal?.reason);
      };
      queue.push(take);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  async function run<R>(task: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    signal?.throwIfAborted();
    if (running < atOnce) running += 1;
    else if (queue.length >= most) {
      onRefused();
      throw new AppError('RATE_LIMITED', 'too many at once');
    } else await turn(signal);
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
