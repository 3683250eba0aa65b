import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `action` at a fixed rate, `burst` times at the same moment, without waiting for its completion. */
export async function atRate(
  { rate, seconds, burst = 1 }: { rate: number; seconds: number; burst?: number },
  action: () => void,
): Promise<void> {
  const start = performance.now();
  const total = Math.round(rate * seconds);
  let done = 0;
  while (done < total) {
    const bursts = Math.floor(((performance.now() - start) / 1_000) * (rate / burst)) + 1;
    for (const due = Math.min(total, bursts * burst); done < due; done += 1) action();
    await sleep(Math.max(0, start + (done / rate) * 1_000 - performance.now()));
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

/** Calls `action` with each item, `limit` at a time. */
export async function forEachConcurrently<T>(
  items: T[],
  limit: number,
  action: (item: T, index: number) => Promise<void>,
): Promise<void> {
  // One iterator for all: each takes the next item.
  const entries = items.entries();
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const [i, item] of entries) await action(item, i);
    }),
  );
}
