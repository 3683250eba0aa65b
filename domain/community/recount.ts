import { coalesce } from '../platform/single-flight.js';

/**
 * Stored counts that equal their records after any crash, without transactions.
 * Why this is right: docs/decisions/counters.md.
 */

/** One stored count: where its version is read, what is counted, how the result is stored. */
export interface StoredCount {
  /** The version of the stored count, or undefined when its record is not there (any more). */
  readVersion(id: number): Promise<number | undefined>;
  /** Counts the records, from an index. */
  count(id: number): Promise<number>;
  /** Stores the count with version + 1 if the version still stands. @returns whether it did */
  store(id: number, version: number, count: number): Promise<boolean>;
}

/**
 * @returns a function that brings one stored count in line with its records. A caller writes its
 *   record first; the count returned, and stored, is from after that write. Undefined when the
 *   counted thing is not there.
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
      // A miss means that another process stored a count meanwhile, perhaps one from before our
      // caller's write, perhaps from after: only counting again tells.
      if (await store(id, version, counted)) return counted;
    }
  });
}
