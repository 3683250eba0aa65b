/** How long, in ms, a condition may take, and how often it is looked at where no event tells of it. */
const PATIENCE_MS = 8_000;
const EVERY_MS = 20;

/** Resolves when a check passes; rejects with its last failure when it does not in time. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }
}
