import { DUPLICATE_KEY, writeErrorsOf } from './errors.js';

/** What inserting without mongoose needs of a model. */
interface Inserter {
  collection: { insertMany(records: never[], options: { ordered: boolean }): Promise<unknown> };
}

/**
 * Inserts records in one unordered write.
 *
 * @returns for each record: true if stored, false if a unique index refused it, else the driver's error
 * @throws the driver's error if the outcome is unknown; some records may then be stored
 */
export async function insertEach(model: Inserter, records: object[]): Promise<(boolean | Error)[]> {
  if (records.length === 0) return [];
  try {
    await model.collection.insertMany(records as never[], { ordered: false });
    return records.map(() => true);
  } catch (error) {
    const refused = writeErrorsOf(error);
    if (!refused) throw error;
    return records.map((_, i) => {
      const code = refused.get(i);
      return code === undefined || (code === DUPLICATE_KEY ? false : (error as Error));
    });
  }
}

/**
 * Inserts records in one unordered write.
 *
 * @returns the records that a unique index refused
 * @throws the driver's error for any other failure; some records may then be stored
 */
export async function insertNew<T extends object>(model: Inserter, records: T[]): Promise<T[]> {
  const outcomes = await insertEach(model, records);
  for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
  return records.filter((_, i) => !outcomes[i]);
}

/**
 * Inserts records in one ordered write: none is stored after a refused one.
 *
 * @returns how many are stored; if not all, a unique index refused the next one
 * @throws the driver's error for any other failure, the outcome of which is unknown
 */
export async function insertInOrder(model: Inserter, records: object[]): Promise<number> {
  try {
    await model.collection.insertMany(records as never[], { ordered: true });
    return records.length;
  } catch (error) {
    const [refused] = writeErrorsOf(error) ?? [];
    if (refused?.[1] === DUPLICATE_KEY) return refused[0];
    throw error;
  }
}
