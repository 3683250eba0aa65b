import { decode } from './bson-types.js';
import type { Collection, Index } from './collection.js';
import type { Engine } from './engine.js';
import type { FilterNode } from './filter.js';
import { findRecords } from './plan-executor.js';
import { planIndex } from './planner.js';

/** mongod's TTL monitor runs every 60 s; so do we, and remove at most this many documents in one go. */
export const TTL_INTERVAL_MS = 60_000;
const REMOVE_AT_ONCE = 1000;

/**
 * Removes the documents whose TTL index says they are over at `now` (milliseconds). Returns how many.
 * An index that cannot be worked on does not stop the others, and is tried again at the next turn.
 *
 * @param report gets one line for each index that failed
 */
export async function removeExpired(
  engine: Engine,
  now: number,
  report: (line: string) => void,
): Promise<number> {
  let total = 0;
  for (const collection of engine.catalog.all())
    for (const index of collection.indexes) {
      if (index.spec.expireAfterSeconds === undefined) continue;
      const before = now - index.spec.expireAfterSeconds * 1000;
      try {
        for (let removed = REMOVE_AT_ONCE; removed === REMOVE_AT_ONCE; total += removed)
          removed = await removeSome(engine, collection, index, before);
      } catch (error) {
        const { message } = error as Error;
        report(`TTL index ${index.spec.name} of ${collection.namespace} removes nothing: ${message}`);
      }
    }
  return total;
}

function removeSome(engine: Engine, collection: Collection, index: Index, before: number): Promise<number> {
  const path = index.spec.fields[0]?.path ?? [];
  // A partial index holds just the documents of its condition, so that need not be asked again.
  const filter: FilterNode = { kind: 'compare', path, op: 'lte', value: new Date(before) };
  const query = { filter, sort: [], skip: 0, limit: REMOVE_AT_ONCE };
  return engine.storage.write((writer) => {
    if (!engine.catalog.all().includes(collection)) return 0;
    const found = [...findRecords(writer, collection, query, undefined, planIndex(index, [filter], []))];
    for (const { recordId, bytes } of found) collection.remove(writer, recordId, decode(bytes));
    return found.length;
  });
}
