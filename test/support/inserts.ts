import type { Model } from 'mongoose';

/** Runs a task with something done before each insert of several records, which is told them. */
export async function beforeInserts<T>(
  { collection }: { collection: Model<unknown>['collection'] },
  before: (records: T[]) => Promise<void> | void,
  task: () => Promise<void>,
): Promise<void> {
  const { insertMany } = collection;
  collection.insertMany = (async (...args: Parameters<typeof insertMany>) => {
    await before(args[0] as unknown as T[]);
    return insertMany.apply(collection, args);
  }) as typeof insertMany;
  try {
    await task();
  } finally {
    collection.insertMany = insertMany;
  }
}
