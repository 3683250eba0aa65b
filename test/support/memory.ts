import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { nextTurn } from './eventually.js';

setFlagsFromString('--expose-gc');

/** Runs the garbage collector. */
export const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Heap that a repeated task retains, bytes. The first round is not counted: it compiles code and fills caches.
 */
export async function memoryTaken(times: number, task: (i: number) => Promise<void> | void): Promise<number> {
  const round = async (from: number) => {
    for (let i = from; i < from + times; i += 1) await task(i);
    // Weak references hold until the end of the turn.
    await nextTurn();
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await round(0);
  return (await round(times)) - before;
}
