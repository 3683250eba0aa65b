import { Batcher } from './batcher.js';

/** Most keys of one read. */
const MAX_GROUP = 500;

/**
 * Options of a read whose whole group comes in one reply: by default the driver fetches 100 records, then
 * batch by batch.
 */
export const WHOLE_GROUP = { batchSize: MAX_GROUP + 1 };

/** Concurrent reads: with one, the database would idle while the next is prepared. */
const MAX_IN_FLIGHT = 2;

/**
 * Reads records by key, one query for all keys requested at the same moment: when thousands of clients
 * reconnect at once, a query for each would dominate the cost.
 *
 * A record is never read before it was requested. Requests for the same key share one record: callers must
 * not change it.
 *
 * @param read the records of distinct keys; those that do not exist are left out
 */
export function createGroupedReads<K, V>(
  read: (keys: K[]) => Promise<Map<K, V>>,
): (key: K) => Promise<V | undefined> {
  /** Reads that have not started. */
  const waiting = new Map<K, Promise<V | undefined>>();
  const batcher = new Batcher<K, V | undefined>(
    async (keys) => {
      for (const key of keys) waiting.delete(key);
      const found = await read(keys);
      return keys.map((key) => found.get(key));
    },
    { size: MAX_GROUP, concurrency: MAX_IN_FLIGHT },
  );
  return (key) => {
    const known = waiting.get(key);
    if (known) return known;
    const reading = batcher.add(key);
    waiting.set(key, reading);
    return reading;
  };
}
