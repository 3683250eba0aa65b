import { MongoNetworkTimeoutError } from 'mongodb';

/** Server code: a unique index refused a record. */
const TAKEN = 11_000;

/** Whether an insert fails, and whether it is carried out before. */
export type InsertFate = 'succeeds' | 'fails before' | 'fails after';

/** A collection in memory whose inserts take two steps: what happens in the database, and its answer. */
export class FakeCollection<R extends object> {
  readonly records: R[] = [];
  readonly #step: (label: string) => Promise<void>;
  readonly #uniqueKeys: (record: R) => string[];
  readonly #fates: InsertFate[];

  /**
   * @param uniqueKeys no two records have one in common
   * @param fates of the first inserts; later ones succeed
   */
  constructor(
    step: (label: string) => Promise<void>,
    uniqueKeys: (record: R) => string[],
    fates: readonly InsertFate[],
  ) {
    this.#step = step;
    this.#uniqueKeys = uniqueKeys;
    this.#fates = [...fates];
  }

  /** As the driver's; replaces it in the model's collection. */
  readonly insertMany = async (records: R[], { ordered }: { ordered: boolean }): Promise<void> => {
    const fate = this.#fates.shift() ?? 'succeeds';
    await this.#step(`insert of ${records.length}`);
    const writeErrors = fate === 'fails before' ? [] : this.#store(records, ordered);
    await this.#step(`insert ${fate}`);
    if (fate !== 'succeeds') throw new MongoNetworkTimeoutError('the answer did not come');
    if (writeErrors.length > 0) throw Object.assign(new Error('duplicate keys'), { writeErrors });
  };

  #store(records: R[], ordered: boolean): { index: number; code: number }[] {
    const writeErrors: { index: number; code: number }[] = [];
    for (const [index, record] of records.entries()) {
      if (ordered && writeErrors.length > 0) break;
      const keys = this.#uniqueKeys(record);
      const isTaken = this.records.some((other) => this.#uniqueKeys(other).some((key) => keys.includes(key)));
      if (isTaken) writeErrors.push({ index, code: TAKEN });
      else this.records.push({ ...record });
    }
    return writeErrors;
  }
}

/** What is used of a query: it is sorted, and read as plain records. */
export function query<T>(read: () => Promise<T>): { sort(): { lean(): Promise<T> }; lean(): Promise<T> } {
  return { sort: () => ({ lean: read }), lean: read };
}

/** Replaces methods until it is told to stop. */
export function replace<T extends object>(target: T, methods: Partial<Record<keyof T, unknown>>): () => void {
  const own = Object.keys(methods).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  Object.assign(target, methods);
  return () => {
    for (const [name, descriptor] of own) {
      if (descriptor) Object.defineProperty(target, name, descriptor);
      else delete (target as Record<string, unknown>)[name];
    }
  };
}
