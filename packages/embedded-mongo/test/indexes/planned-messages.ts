import type { Engine } from '../../src/commands/engine.js';
import { findRecords } from '../../src/indexes/find-records.js';
import { planQuery } from '../../src/indexes/planner.js';
import { parseFilter } from '../../src/query/filter.js';
import { parseSort } from '../../src/query/sort.js';
import type { Collection } from '../../src/storage/collection.js';
import type { Reader } from '../../src/storage/storage.js';
import type { Document } from '../../src/values/bson-types.js';
import { buildEngine, runCommand } from '../support/run-command.js';

/** A query as find takes it. */
export interface Query {
  filter?: Document;
  sort?: Document;
  skip?: number;
  limit?: number;
}

/** How a query is served. */
export interface Explained {
  kind: 'COLLSCAN' | 'IXSCAN' | 'OR';
  /** The indexes that are read, by name. */
  indexes: string[];
  backwards: boolean;
  /** Whether results are sorted after they are found. */
  sorts: boolean;
  /** Index entries in the ranges of the plan. */
  keys: number;
  /** Documents read by their record id, and entries read of the ranges. */
  docs: number;
  entries: number;
  returned: number;
}

export function collectionIn(engine: Engine, name: string): Collection {
  const collection = engine.catalog.find('test', name);
  if (!collection) throw new Error('no collection');
  return collection;
}

export function explain(engine: Engine, name: string, query: Query): Explained {
  const collection = collectionIn(engine, name);
  const [filter, sort] = [parseFilter(query.filter ?? {}), parseSort(query.sort)];
  const plan = planQuery(collection, filter, sort);
  const scans = plan.scans.flatMap(({ index, ranges }) => (index ? [{ index, ranges }] : []));
  const kinds = ['COLLSCAN', 'IXSCAN', 'OR'] as const;
  let docs = 0;
  let entries = 0;
  const { storage } = engine;
  const reader: Reader = {
    generation: storage.generation,
    get(key) {
      docs++;
      return storage.get(key);
    },
    entries(range, limit) {
      const found = storage.entries(range, limit);
      entries += found.length;
      return found;
    },
    count: (start, end) => storage.count(start, end),
  };
  const spec = { filter, sort, skip: query.skip ?? 0, limit: query.limit ?? 0 };
  const returned = [...findRecords(reader, collection, spec)].length;
  return {
    kind: kinds[Math.min(scans.length, 2)] as Explained['kind'],
    indexes: scans.map(({ index }) => index.spec.name),
    backwards: scans.some(({ ranges }) => ranges.some(({ reverse }) => reverse)),
    sorts: !plan.sorted,
    keys: scans
      .flatMap(({ ranges }) => ranges)
      .reduce((sum, { start, end }) => sum + storage.count(start, end), 0),
    docs,
    entries,
    returned,
  };
}

/** 1,000 messages of 10 rooms; every fifth has a clientId, every hundredth is deleted. */
export async function messages(): Promise<Engine> {
  const engine = buildEngine();
  const documents = Array.from({ length: 1000 }, (_, i) => ({
    _id: i,
    room: i % 10,
    seq: Math.floor(i / 10),
    sender: i % 3,
    ...(i % 5 === 0 ? { clientId: `c${i}` } : {}),
    ...(i % 100 === 0 ? { deletedAt: new Date(i) } : {}),
  }));
  await runCommand(engine, { insert: 'm', documents });
  await runCommand(engine, { insert: 'scanned', documents });
  await runCommand(engine, {
    createIndexes: 'm',
    indexes: [
      { key: { room: 1, seq: 1 }, name: 'room_seq', unique: true },
      { key: { sender: 1, seq: -1 }, name: 'sender_seq' },
      {
        key: { room: 1, sender: 1, clientId: 1 },
        name: 'client',
        unique: true,
        partialFilterExpression: { clientId: { $exists: true } },
      },
      { key: { deletedAt: 1 }, name: 'deleted', partialFilterExpression: { deletedAt: { $exists: true } } },
    ],
  });
  return engine;
}
