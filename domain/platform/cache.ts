import { LRUCache } from 'lru-cache';

/**
 * A least-recently-used cache. Limited by `maxSize`, not `max`, for which lru-cache allocates all entries in
 * advance: for a process's caches 10 MB and 45 ms of CPU time at its start.
 *
 * @param max most entries
 * @param ttl lifetime of an entry, ms; 0: unlimited
 */
export function createCache<K extends string | number, V extends NonNullable<unknown>>(
  max: number,
  ttl = 0,
): LRUCache<K, V> {
  return new LRUCache<K, V>({ maxSize: max, sizeCalculation: () => 1, ttl });
}
