import { DUPLICATE_KEY, refusedIn } from '../platform/inserts.js';
import { Message, type MessageRecord } from './message.model.js';

interface Waiting {
  record: MessageRecord;
  /** Told whether it is stored; a unique index has refused it otherwise. */
  resolve(stored: boolean): void;
  reject(error: unknown): void;
}

/** Most records in one insert: past some hundreds the cost per record falls no further. */
const MAX_GROUP = 500;

/** Inserts on their way at once: one would leave the database idle while we prepare the next. */
const MAX_IN_FLIGHT = 2;

/**
 * Stores records of many rooms together: those that wait at the same moment share one unordered
 * insertMany, so the cost of a message falls as load rises, and at low load nothing waits for a group
 * to fill.
 *
 * @returns a function that stores a record, and tells whether it is stored once the database has
 *   acknowledged it; a unique index has refused it otherwise
 */
export function createGroupedInserts() {
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;

  async function insert(group: Waiting[]): Promise<void> {
    try {
      await Message.collection.insertMany(group.map(({ record }) => record) as never[], { ordered: false });
      for (const { resolve } of group) resolve(true);
    } catch (error) {
      const refused = refusedIn(error);
      group.forEach(({ resolve, reject }, i) => {
        const code = refused?.get(i);
        if (refused && code === undefined) resolve(true);
        else if (code === DUPLICATE_KEY) resolve(false);
        else reject(error);
      });
    }
  }

  function flush(): void {
    scheduled = false;
    while (waiting.length > 0 && inFlight < MAX_IN_FLIGHT) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      inFlight += 1;
      void insert(group).finally(() => {
        inFlight -= 1;
        schedule();
      });
    }
  }

  /** Everything that arrives in one turn of the event loop goes together. */
  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(flush);
  }

  return function insertGrouped(record: MessageRecord): Promise<boolean> {
    return new Promise((resolve, reject) => {
      waiting.push({ record, resolve, reject });
      schedule();
    });
  };
}
