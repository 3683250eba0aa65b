import { duplicateKey } from '../../platform/mongo.js';
import { Message, type MessageRecord } from './message.model.js';

/** What became of one record: stored, or refused by one of the unique indexes. */
export type InsertOutcome = 'stored' | 'duplicate';

interface Waiting {
  record: MessageRecord;
  resolve(outcome: InsertOutcome): void;
  reject(error: unknown): void;
}

/** Most records in one insert: past some hundreds the cost per record falls no further. */
const MAX_GROUP = 500;

/** Inserts on their way at once: one would leave the database idle while we prepare the next. */
const MAX_IN_FLIGHT = 2;

/** The part of the driver's bulk error that says which records failed, and how. */
interface BulkFailure {
  writeErrors?: { index: number; code: number; errmsg?: string }[] | { index: number; code: number };
}

/**
 * Stores records of many rooms together: those that wait at the same moment share one unordered
 * insertMany, so the cost of a message falls as load rises, and at low load nothing waits for a group
 * to fill. Resolves when the record is acknowledged by the database.
 */
export function createGroupedInserts() {
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let scheduled = false;

  /** Which of a failed group were refused; undefined when the whole group's outcome is unknown. */
  function refusedIn(error: unknown): Map<number, number> | undefined {
    const { writeErrors } = error as BulkFailure;
    if (!writeErrors) return undefined;
    const list = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
    return list.length > 0 ? new Map(list.map(({ index, code }) => [index, code])) : undefined;
  }

  async function insert(group: Waiting[]): Promise<void> {
    try {
      await Message.collection.insertMany(group.map(({ record }) => record) as never[], { ordered: false });
      for (const { resolve } of group) resolve('stored');
    } catch (error) {
      const refused = refusedIn(error);
      group.forEach(({ resolve, reject }, i) => {
        const code = refused?.get(i);
        if (refused && code === undefined) resolve('stored');
        else if (code === 11_000 || (!refused && duplicateKey(error) && group.length === 1))
          resolve('duplicate');
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

  return function insertGrouped(record: MessageRecord): Promise<InsertOutcome> {
    return new Promise((resolve, reject) => {
      waiting.push({ record, resolve, reject });
      schedule();
    });
  };
}
