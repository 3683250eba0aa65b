import { duplicateKey } from './mongo.js';

/** A unique index has refused a record. (MongoDB error codes) */
export const DUPLICATE_KEY = 11_000;

/** The part of the driver's bulk error that says which records were refused. */
interface BulkFailure {
  writeErrors?: { index: number; code: number }[] | { index: number; code: number };
}

/** A model, as far as inserting past mongoose needs it. */
interface Inserter {
  collection: { insertMany(records: never[], options: { ordered: boolean }): Promise<unknown> };
}

/**
 * Inserts records in one write, each whatever becomes of the others.
 *
 * @returns those that a unique index refused
 * @throws the driver's error for any other failure; some of the records may then be stored
 */
export async function insertNew<T extends object>(model: Inserter, records: T[]): Promise<T[]> {
  if (records.length === 0) return [];
  try {
    await model.collection.insertMany(records as never[], { ordered: false });
    return [];
  } catch (error) {
    const refused = refusedIn(error, records.length);
    if (!refused || [...refused.values()].some((code) => code !== DUPLICATE_KEY)) throw error;
    return records.filter((_, i) => refused.has(i));
  }
}

/**
 * Inserts records in one write and in order: none is stored behind one that is refused.
 *
 * @returns how many are stored; where not all, a unique index has refused the next one
 * @throws the driver's error when the outcome is unknown
 */
export async function insertInOrder(model: Inserter, records: object[]): Promise<number> {
  try {
    await model.collection.insertMany(records as never[], { ordered: true });
    return records.length;
  } catch (error) {
    const [refused] = refusedIn(error, records.length) ?? [];
    if (refused?.[1] === DUPLICATE_KEY) return refused[0];
    throw error;
  }
}

/**
 * Which records of a failed insert were refused, with the server's codes; undefined when its
 * outcome is unknown.
 * @param count how many records it had
 */
export function refusedIn(error: unknown, count: number): Map<number, number> | undefined {
  const { writeErrors } = (error ?? {}) as BulkFailure;
  const list = Array.isArray(writeErrors) ? writeErrors : writeErrors ? [writeErrors] : [];
  if (list.length > 0) return new Map(list.map(({ index, code }) => [index, code]));
  return count === 1 && duplicateKey(error) ? new Map([[0, DUPLICATE_KEY]]) : undefined;
}
