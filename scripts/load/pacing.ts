import { setTimeout as sleep } from 'node:timers/promises';
import { nowMicros } from './stamp.js';

/**
 * Calls `action` at a fixed rate, `burst` times at the same moment, without waiting for its completion.
 *
 * @param action gets when it was due, µs of `nowMicros`: earlier than now if this process is behind
 */
export async function atRate(
  { rate, seconds, burst = 1 }: { rate: number; seconds: number; burst?: number },
  action: (dueAt: number) => void,
): Promise<void> {
  const start = nowMicros();
  const total = Math.round(rate * seconds);
  let done = 0;
  while (done < total) {
    const bursts = Math.floor(((nowMicros() - start) / 1e6) * (rate / burst)) + 1;
    for (const due = Math.min(total, bursts * burst); done < due; done += 1)
      action(start + ((done - (done % burst)) / rate) * 1e6);
    await sleep(Math.max(0, (start + (done / rate) * 1e6 - nowMicros()) / 1_000));
  }
}

/** Repeats `action` until the time is over, `inFlight` at a time. @returns how often */
export async function repeat(
  { inFlight, seconds }: { inFlight: number; seconds: number },
  action: () => Promise<unknown>,
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let count = 0;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (; performance.now() < end; count += 1) await action();
    }),
  );
  return count;
}

/**
 * Calls `action` with each item, `limit` at a time; after a failure with no other one.
 * @throws what failed first, once all that were under way have ended
 */
export async function forEachConcurrently<T>(
  items: T[],
  limit: number,
  action: (item: T, index: number) => Promise<void>,
): Promise<void> {
  // One iterator for all: each takes the next item.
  const entries = items.entries();
  const failures: unknown[] = [];
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const [i, item] of entries) {
        if (failures.length > 0) return;
        await action(item, i).catch((error) => failures.push(error));
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
