import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Frees what nothing refers to any more, at once. */
export const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Bytes of memory that doing something many times has taken for good. A first round is not counted: code is
 * compiled in it, and caches fill.
 */
export async function memoryTaken(times: number, task: (i: number) => Promise<void> | void): Promise<number> {
  const round = async (from: number) => {
    for (let i = from; i < from + times; i += 1) await task(i);
    // Weak references hold on until the turn is over.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await round(0);
  return (await round(times)) - before;
}
