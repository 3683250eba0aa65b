import { joinNext } from '../platform/async/shared-runs.js';

/** The fields of a record that a recount reads: the count, its version, and the article of a comment. */
type Counted = Record<string, number | string>;

/** A stored count that equals its records after any crash, without transactions: docs/decisions/counters.md. */
export interface StoredCount {
  /** Of the records that hold the count: what is used of a mongoose model. */
  model: {
    findOne(filter: object, fields: object): { lean(): PromiseLike<unknown> };
    updateOne(filter: object, change: object): PromiseLike<{ matchedCount: number }>;
  };
  /** Which of them are counted. */
  filter: object;
  /** Further condition, checked after the version was read. */
  isCounted?(articleId: number): Promise<boolean>;
  /** Name of the count's version, which rises with each change. */
  version: 'heartsVersion' | 'commentsVersion' | 'repliesVersion';
  /** Counts the records, from an index only. */
  count(id: number): Promise<number>;
  /** The fields that a count sets. */
  fields(count: number): Counted;
}

/**
 * @param onDifference called if the stored count was another
 * @returns a function that recounts and stores. The result includes what the caller wrote before the call;
 *   undefined if the record with the count is not counted.
 */
export function createRecount(
  { model, filter, isCounted, version, count, fields }: StoredCount,
  onDifference?: () => void,
) {
  const held = Object.keys(fields(0));
  return joinNext(async (_id: number): Promise<number | undefined> => {
    for (;;) {
      const found = model.findOne(
        { _id, ...filter },
        {
          ...Object.fromEntries(held.map((name) => [name, 1])),
          articleId: 1,
          [version]: 1,
        },
      );
      const record = ((await found.lean()) ?? {}) as Counted;
      const read = record[version] as number | undefined;
      if (read === undefined || (isCounted && !(await isCounted(record.articleId as number))))
        return undefined;
      const counted = await count(_id);
      const counts = fields(counted);
      const change = { $set: { ...counts, [version]: read + 1 } };
      const { matchedCount } = await model.updateOne({ _id, [version]: read }, change);
      if (matchedCount === 1) {
        if (held.some((name) => record[name] !== counts[name])) onDifference?.();
        return counted;
      }
      // Another process stored a count meanwhile, which may or may not include the caller's write.
    }
  });
}
