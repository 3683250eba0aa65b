import { decode } from './bson-types.js';
import type { Collection, Index } from './collection.js';
import type { Engine } from './engine.js';
import type { FilterNode } from './filter.js';
import { findRecords } from './plan-executor.js';

/** mongod's TTL monitor runs every 60 s; so do we, and remove at most this many documents in one go. */
export const TTL_INTERVAL_MS = 60_000;
const REMOVE_AT_ONCE = 1000;

/** Removes the documents whose TTL index says they are over at `now` (milliseconds). Returns how many. */
export async function removeExpired(engine: Engine, now: number): Promise<number> {
  let total = 0;
  for (const collection of engine.catalog.all())
    for (const index of collection.indexes) {
      if (index.spec.expireAfterSeconds === undefined) continue;
      for (let removed = REMOVE_AT_ONCE; removed === REMOVE_AT_ONCE; total += removed)
        removed = await removeSome(engine, collection, index, now - index.spec.expireAfterSeconds * 1000);
    }
  return total;
}

function removeSome(engine: Engine, collection: Collection, index: Index, before: number): Promise<number> {
  const path = index.spec.fields[0]?.path ?? [];
  const expired: FilterNode = { kind: 'compare', path, op: 'lte', value: new Date(before) };
  const filter: FilterNode = index.spec.partial
    ? { kind: 'and', children: [expired, index.spec.partial.filter] }
    : expired;
  return engine.storage.write((writer) => {
    if (!engine.catalog.all().includes(collection)) return 0;
    const found = [
      ...findRecords(writer, collection, {
        filter,
        sort: [],
        skip: 0,
        limit: REMOVE_AT_ONCE,
        hint: index.spec.name,
      }),
    ];
    for (const { recordId, bytes } of found) collection.remove(writer, recordId, decode(bytes));
    return found.length;
  });
}
