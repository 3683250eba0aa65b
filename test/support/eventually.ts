/** How long, in ms, a condition may take, also on a busy machine. */
const TIMEOUT_MS = 40_000;

/** How often, in ms, it is looked at. */
const EVERY_MS = 20;

/** Resolves when a check passes; rejects with its last failure when it does not in time. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}
