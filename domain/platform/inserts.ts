/** A unique index has refused a record. (MongoDB error codes) */
export const DUPLICATE_KEY = 11_000;

/** The part of the driver's bulk error that says which records were refused. */
interface BulkFailure {
  writeErrors?: { index: number; code: number }[];
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
    const refused = refusedIn(error);
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
    const [refused] = refusedIn(error) ?? [];
    if (refused?.[1] === DUPLICATE_KEY) return refused[0];
    throw error;
  }
}

/** Which records of a failed insert were refused, with the server's codes; undefined when its outcome is unknown. */
export function refusedIn(error: unknown): Map<number, number> | undefined {
  const { writeErrors = [] } = (error ?? {}) as BulkFailure;
  return writeErrors.length > 0 ? new Map(writeErrors.map(({ index, code }) => [index, code])) : undefined;
}
