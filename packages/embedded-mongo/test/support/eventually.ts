/** Longest wait, in ms, for a condition, also on a busy machine. */
const WAIT_MS = 40_000;

/** Interval, in ms, between two checks of a condition. */
const EVERY_MS = 20;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves after pending promises and I/O callbacks have run, once for each turn of the event loop. */
export async function nextTurn(turns = 1): Promise<void> {
  for (let i = 0; i < turns; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when a check passes; rejects with its last failure when it does not in time. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = WAIT_MS): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(EVERY_MS);
    }
  }
}
