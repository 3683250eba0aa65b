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
 * Lets callers that wait for the same work share it: a call gets the result of a run that *starts
 * after* the call, because one that was under way may have missed what the caller just wrote.
 * A hundred calls at once cost two runs.
 *
 * @param work done once for all callers that wait under one key; runs of a key never overlap
 */
export function coalesce<K, V>(work: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const running = new Map<K, Promise<V>>();
  const next = new Map<K, Promise<V>>();

  function start(key: K): Promise<V> {
    const run = work(key).finally(() => {
      if (running.get(key) === run) running.delete(key);
    });
    running.set(key, run);
    return run;
  }

  return function join(key) {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const current = running.get(key);
    if (!current) return start(key);
    const begin = () => {
      next.delete(key);
      return start(key);
    };
    // A failed run concerns its own callers; those who wait get their own attempt.
    const queued = current.then(begin, begin);
    next.set(key, queued);
    return queued;
  };
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
