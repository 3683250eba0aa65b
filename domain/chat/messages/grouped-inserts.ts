import { duplicateKey } from '../../platform/mongo.js';
import { Message, type MessageRecord } from './message.model.js';

interface Waiting {
  record: MessageRecord;
  /** Told whether it is stored; a unique index has refused it otherwise. */
  resolve(stored: boolean): void;
  reject(error: unknown): void;
}

/** A unique index has refused a record. (MongoDB error codes) */
const DUPLICATE_KEY = 11_000;

/** Most records in one insert: past some hundreds the cost per record falls no further. */
const MAX_GROUP = 500;

/** Inserts on their way at once: one would leave the database idle while we prepare the next. */
const MAX_IN_FLIGHT = 2;

/** The part of the driver's bulk error that says which records failed, and how. */
interface BulkFailure {
  writeErrors?: { index: number; code: number; errmsg?: string }[] | { index: number; code: number };
}

/** Which of a failed group were refused, with their codes; undefined when the group's outcome is unknown. */
function refusedIn(error: unknown): Map<number, number> | undefined {
  const { writeErrors } = error as BulkFailure;
  if (!writeErrors) return undefined;
  const list = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  return list.length > 0 ? new Map(list.map(({ index, code }) => [index, code])) : undefined;
}

/**
 * Stores records of one room, each following from the one before: in order, and none behind one that is
 * refused.
 *
 * @returns how many are stored; where not all, a unique index has refused the next one
 * @throws the driver's error when the outcome is unknown
 */
export async function insertInOrder(records: MessageRecord[]): Promise<number> {
  try {
    await Message.collection.insertMany(records as never[], { ordered: true });
    return records.length;
  } catch (error) {
    const [refused] = refusedIn(error) ?? [];
    if (refused?.[1] === DUPLICATE_KEY) return refused[0];
    throw error;
  }
}

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
        else if (code === DUPLICATE_KEY || (!refused && duplicateKey(error) && group.length === 1))
          resolve(false);
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
