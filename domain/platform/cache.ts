import { LRUCache } from 'lru-cache';

/** Entries that have expired are dropped so many times in a lifetime. */
const SWEEPS = 4;

/**
 * A least-recently-used cache. Limited by `maxSize`, not `max`, for which lru-cache allocates all entries in
 * advance: for a process's caches 10 MB and 45 ms of CPU time at its start.
 *
 * An entry leaves memory within a quarter of its lifetime after that has ended, whether it is asked for again or not. One
 * timer does it, and only while there are entries: `ttlAutopurge` would need one for each.
 *
 * @param max most entries
 * @param ttl lifetime of an entry, ms; 0: unlimited
 * @param since what the lifetime counts from: when the entry was last set, or last set or read
 */
export function createCache<K extends string | number, V extends NonNullable<unknown>>(
  max: number,
  ttl = 0,
  since: 'set' | 'use' = 'set',
): LRUCache<K, V> {
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    cache.purgeStale();
    if (cache.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const sweepFromNowOn = () => {
    if (ttl > 0) timer ??= setInterval(sweep, ttl / SWEEPS).unref();
  };
  const cache: LRUCache<K, V> = new LRUCache({
    maxSize: max,
    sizeCalculation: () => 1,
    ttl,
    updateAgeOnGet: since === 'use',
    onInsert: sweepFromNowOn,
  });
  return cache;
}
