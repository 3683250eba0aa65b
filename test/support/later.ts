/** Time, in ms, for which lru-cache keeps a time that it has read. */
const CACHED_MS = 1;

/** Runs something while the process's monotonic clock (performance.now) shows a time that is so many ms later. */
export async function later<T>(ms: number, run: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, 2 * CACHED_MS));
  const { now } = performance;
  performance.now = () => now.call(performance) + ms;
  try {
    return await run();
  } finally {
    performance.now = now;
  }
}
