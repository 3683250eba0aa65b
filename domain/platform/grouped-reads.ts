interface Waiting<V> {
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/** Most keys of one read. */
const MAX_GROUP = 500;

/** Reads on their way at once: one would leave the database idle while we prepare the next. */
const MAX_IN_FLIGHT = 2;

/**
 * Reads records by their keys, those asked for at the same moment in one query: when thousands of clients
 * come back at once, a query for each is most of what they cost. At low load nothing waits for a group.
 *
 * What is returned was read after it was asked for, never before; equal keys share one record, which
 * nobody may change.
 *
 * @param read the records of different keys; those that do not exist are left out
 */
export function createGroupedReads<K, V>(
  read: (keys: K[]) => Promise<Map<K, V>>,
): (key: K) => Promise<V | undefined> {
  let waiting = new Map<K, Waiting<V>[]>();
  let inFlight = 0;
  let scheduled = false;

  async function readGroup(group: [K, Waiting<V>[]][]): Promise<void> {
    try {
      const found = await read(group.map(([key]) => key));
      for (const [key, callers] of group) for (const { resolve } of callers) resolve(found.get(key));
    } catch (error) {
      for (const [, callers] of group) for (const { reject } of callers) reject(error);
    }
  }

  function flush(): void {
    scheduled = false;
    while (waiting.size > 0 && inFlight < MAX_IN_FLIGHT) {
      const all = [...waiting];
      waiting = new Map(all.slice(MAX_GROUP));
      inFlight += 1;
      void readGroup(all.slice(0, MAX_GROUP)).finally(() => {
        inFlight -= 1;
        schedule();
      });
    }
  }

  /** Everything that is asked for in one turn of the event loop goes together. */
  function schedule(): void {
    if (scheduled || waiting.size === 0) return;
    scheduled = true;
    setImmediate(flush);
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const callers = waiting.get(key);
      if (callers) callers.push({ resolve, reject });
      else waiting.set(key, [{ resolve, reject }]);
      schedule();
    });
}
