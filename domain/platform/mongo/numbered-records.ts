import type { mongo } from 'mongoose';
import { PROGRESS_STEP } from '../../kernel/verification.js';
import { readRecords } from './records.js';

/** Records changed in one write. */
const PAGE = 500;

/** Records that are numbered within an owner, such as the messages of a room, by a unique index of both fields. */
export interface Numbering {
  /** A mongoose model. */
  model: { collection: unknown };
  /** Field with the owner's number. */
  owner: string;
  /** Field with the number. */
  number: string;
}

/**
 * Reads records, ordered by owner and number, a page at a time. No cursor stays open: the database ends one whose reader
 * pauses for ten minutes.
 *
 * @param fields those to read, besides owner and number
 * @param checked is told of each page, and waited for
 * @param of reads those of one owner only
 */
export async function* readNumbered<R extends object>(
  { model, owner, number }: Numbering,
  fields: readonly string[],
  checked: (count: number) => void | Promise<void>,
  of?: number,
): AsyncGenerator<R> {
  const projection = Object.fromEntries([owner, number, ...fields].map((field) => [field, 1]));
  const read = (filter: object, limit = PROGRESS_STEP) =>
    readRecords(model, filter, { projection, sort: { [owner]: 1, [number]: 1 }, limit, batchSize: limit });
  let page = await read(of === undefined ? {} : { [owner]: of });
  for (;;) {
    if (page.length > 0) await checked(page.length);
    yield* page as R[];
    const last = page.at(-1) as Record<string, unknown> | undefined;
    if (!last || page.length < PROGRESS_STEP) return;
    page = await read({ [owner]: last[owner], [number]: { $gt: last[number] } });
    const room = PROGRESS_STEP - page.length;
    if (room > 0 && of === undefined) page.push(...(await read({ [owner]: { $gt: last[owner] } }, room)));
  }
}

/**
 * Adds to the numbers of an owner's records what makes the lowest 1, if that is below 1. The highest number moves first,
 * so the unique index holds throughout, and an interrupted run can be repeated.
 *
 * @returns what was added; 0 without numbers below 1
 */
export async function raiseNumbers({ model, owner, number }: Numbering, of: number): Promise<number> {
  const fields = { projection: { [number]: 1 } };
  const [lowest] = await readRecords(model, { [owner]: of }, { ...fields, sort: { [number]: 1 }, limit: 1 });
  const by = Math.max(0, 1 - ((lowest as Record<string, number> | undefined)?.[number] ?? 1));
  if (by === 0) return 0;
  for (let below = Number.POSITIVE_INFINITY; ; ) {
    const page = (await readRecords(
      model,
      { [owner]: of, [number]: { $lt: below } },
      { ...fields, sort: { [number]: -1 }, limit: PAGE, batchSize: PAGE },
    )) as (mongo.BSON.Document & { _id: never })[];
    const last = page.at(-1);
    if (!last) return by;
    const changes = page.map(({ _id }) => ({
      updateOne: { filter: { _id }, update: { $inc: { [number]: by } } },
    }));
    await (model.collection as mongo.Collection).bulkWrite(changes, { ordered: true });
    below = last[number];
  }
}
