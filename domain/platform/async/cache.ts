import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { onRestore } from '../cluster/restores.js';

/** Expired entries are dropped this many times per lifetime. */
const SWEEPS = 4;

/** Entries looked at in one turn of the event loop: all of a large cache may expire together. */
const SLICE = 1_000;

/** All caches: what they hold of a database is wrong once that is an older copy. Those of no database lose nothing but time. */
const caches = new Set<WeakRef<{ clear(): void }>>();

onRestore(() => {
  for (const cache of caches) cache.deref()?.clear();
});

const collected = new FinalizationRegistry<WeakRef<{ clear(): void }>>((cache) => caches.delete(cache));

/**
 * A least-recently-used cache. Limited by `maxSize`, not `max`, for which lru-cache allocates all entries in
 * advance: for a process's caches 10 MB and 45 ms of CPU time at its start.
 *
 * An expired entry leaves memory within a quarter of its lifetime, also if nobody asks for it. One timer serves all entries,
 * and runs only while there are any: `ttlAutopurge` would need one for each.
 *
 * It is emptied when the database has become an older copy (cluster/restores.ts).
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
  const drop = (key: K | undefined) => {
    if (key !== undefined && !cache.has(key)) cache.delete(key);
  };
  const sweep = async () => {
    let last: K | undefined;
    let looked = 0;
    // As the iteration begins: else it would leave out what has expired.
    cache.allowStale = true;
    // In the rare case that the entry at which a turn ends is used or dropped before the next, the rest is the next sweep's.
    for (const key of cache.rkeys()) {
      cache.allowStale = false;
      // One step late: the iteration could not go on from an entry that was dropped.
      drop(last);
      last = key;
      looked += 1;
      if (looked % SLICE === 0) await nextTurn();
    }
    cache.allowStale = false;
    drop(last);
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
    // Otherwise a timer would run out 1 ms after each first use in a ms, and wake the process for nothing.
    ttlResolution: 0,
    updateAgeOnGet: since === 'use',
    onInsert: sweepFromNowOn,
  });
  const ref = new WeakRef(cache);
  caches.add(ref);
  collected.register(cache, ref);
  return cache;
}
