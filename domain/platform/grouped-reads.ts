interface Waiting<V> {
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/** Most keys of one read. */
const MAX_GROUP = 500;

/**
 * Options of a read whose whole group comes in one answer: the driver asks for the first hundred alone,
 * and for each further batch once more.
 */
export const WHOLE_GROUP = { batchSize: MAX_GROUP + 1 };

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
  const waiting = new Map<K, Waiting<V>[]>();
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

  /** Those that have waited longest. */
  function takeGroup(): [K, Waiting<V>[]][] {
    const group: [K, Waiting<V>[]][] = [];
    for (const entry of waiting) {
      if (group.length === MAX_GROUP) break;
      group.push(entry);
      waiting.delete(entry[0]);
    }
    return group;
  }

  function flush(): void {
    scheduled = false;
    while (waiting.size > 0 && inFlight < MAX_IN_FLIGHT) {
      inFlight += 1;
      void readGroup(takeGroup()).finally(() => {
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
