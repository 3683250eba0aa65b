import { coalesce } from '../platform/single-flight.js';

/** A stored count that equals its records after any crash, without transactions: docs/decisions/counters.md. */
export interface StoredCount {
  /** The version of the stored count; undefined if its record is not live. */
  readVersion(id: number): Promise<number | undefined>;
  /** Counts the records, from an index only. */
  count(id: number): Promise<number>;
  /** Stores the count and version + 1 if the version is unchanged. @returns whether it was */
  store(id: number, version: number, count: number): Promise<boolean>;
}

/**
 * @returns a function that recounts and stores. The result includes what the caller wrote before the call;
 *   undefined if the record with the count is not live.
 */
export function createRecount({
  readVersion,
  count,
  store,
}: StoredCount): (id: number) => Promise<number | undefined> {
  return coalesce(async (id) => {
    for (;;) {
      const version = await readVersion(id);
      if (version === undefined) return undefined;
      const counted = await count(id);
      // Another process stored a count meanwhile, which may or may not include the caller's write.
      if (await store(id, version, counted)) return counted;
    }
  });
}
