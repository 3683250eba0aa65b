import { LRUCache } from 'lru-cache';

/**
 * Keeps what was used last. lru-cache makes room for a number of entries at once, which for all caches of a
 * process is 10 MB and 45 ms of CPU time at its start; for a sum of sizes it does not.
 *
 * @param max most entries
 * @param ttl how long, in ms, an entry is kept after it was set; 0: no limit
 */
export function createCache<K extends string | number, V extends NonNullable<unknown>>(
  max: number,
  ttl = 0,
): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1, ttl });
}
