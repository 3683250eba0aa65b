import { expect } from 'chai';
import type { Engine } from '../../src/commands/engine.js';
import { findRecords } from '../../src/indexes/find-records.js';
import { parseFilter } from '../../src/query/filter.js';
import type { Document } from '../../src/values/bson-types.js';
import { buildEngine, count, find, runCommand } from '../support/run-command.js';
import { collectionIn, type Explained, explain, messages, type Query } from './planned-messages.js';

const list = (length: number, from = 0) => ({ $in: Array.from({ length }, (_, i) => from + i) });

/** Queries of 1,000 messages and how they are served. */
const cases: [title: string, query: Query, expected: Partial<Explained>][] = [
  [
    'equality on _id reads one key and one document',
    { filter: { _id: 5 } },
    { kind: 'IXSCAN', indexes: ['_id_'], keys: 1, docs: 1, returned: 1 },
  ],
  [
    'equality on a whole unique index',
    { filter: { room: 3, seq: 7 } },
    { indexes: ['room_seq'], keys: 1, docs: 1 },
  ],
  [
    'equality and range, exactly as many keys as documents',
    { filter: { room: 3, seq: { $gt: 10, $lte: 20 } } },
    { indexes: ['room_seq'], keys: 10, docs: 10, returned: 10 },
  ],
  [
    'equality, then the sort of the index: reads no more than the limit',
    { filter: { room: 3 }, sort: { seq: 1 }, limit: 5 },
    { indexes: ['room_seq'], sorts: false, backwards: false, docs: 5, entries: 5, returned: 5 },
  ],
  [
    'the same backwards',
    { filter: { room: 3 }, sort: { seq: -1 }, limit: 5 },
    { sorts: false, backwards: true, docs: 5 },
  ],
  [
    'a range before the sort field',
    { filter: { room: 3, seq: { $lt: 50 } }, sort: { seq: -1 }, limit: 50 },
    { indexes: ['room_seq'], backwards: true, keys: 50, sorts: false },
  ],
  [
    'a descending index field',
    { filter: { sender: 1 }, sort: { seq: -1 }, limit: 3 },
    { indexes: ['sender_seq'], backwards: false, docs: 3 },
  ],
  [
    'a range on a descending index field',
    { filter: { sender: 1, seq: { $gte: 90, $lt: 95 } }, sort: { seq: 1 } },
    { indexes: ['sender_seq'], backwards: true, keys: 17, returned: 17 },
  ],
  [
    'points of a descending index field',
    { filter: { sender: 1, seq: list(3, 4) } },
    { indexes: ['sender_seq'], keys: 10, returned: 10 },
  ],
  [
    'sort by all fields of an index',
    { filter: {}, sort: { room: 1, seq: 1 }, limit: 4 },
    { kind: 'IXSCAN', sorts: false, docs: 4 },
  ],
  [
    'sort by all fields, turned round',
    { filter: {}, sort: { room: -1, seq: -1 }, limit: 4 },
    { kind: 'IXSCAN', backwards: true },
  ],
  [
    'a whole index backwards, in many steps',
    { filter: {}, sort: { room: -1, seq: -1 } },
    { kind: 'IXSCAN', backwards: true, keys: 1000, returned: 1000 },
  ],
  [
    'a sort in directions the index does not have',
    { filter: {}, sort: { room: 1, seq: -1 }, limit: 4 },
    { kind: 'COLLSCAN', sorts: true },
  ],
  [
    'a sort by more fields than the index has',
    { filter: { room: 3 }, sort: { seq: 1, sender: 1 } },
    { indexes: ['room_seq'], sorts: true },
  ],
  [
    'a sort by fields that all have one value needs none',
    { filter: { room: 3, seq: 5 }, sort: { seq: 1, room: -1 } },
    { indexes: ['room_seq'], sorts: false },
  ],
  [
    '$in as several points',
    { filter: { room: { $in: [1, 2, 2, 99] }, seq: 4 } },
    { indexes: ['room_seq'], keys: 2, docs: 2 },
  ],
  [
    '$in of one value leaves the order',
    { filter: { room: { $in: [3] } }, sort: { seq: -1 }, limit: 4 },
    { sorts: false, docs: 4 },
  ],
  [
    '$in of several values, sorted by a field behind',
    { filter: { room: { $in: [1, 2, 3] } }, sort: { seq: -1 }, limit: 4 },
    { sorts: true, docs: 300 },
  ],
  [
    '$in on two fields with a sort by both is the order of the index',
    { filter: { room: { $in: [2, 1] }, seq: { $in: [5, 3] } }, sort: { room: -1, seq: -1 } },
    { sorts: false, backwards: true, keys: 4 },
  ],
  [
    'what the index does not know is matched',
    { filter: { room: 3, seq: { $gte: 90 }, clientId: { $exists: false } } },
    { indexes: ['room_seq'], keys: 10, docs: 10, returned: 10 },
  ],
  [
    'what no index helps with is matched: $ne and an expression',
    { filter: { room: 0, seq: { $ne: 4 }, clientId: { $regex: '5' } } },
    { indexes: ['client'], keys: 100, returned: 19 },
  ],
  [
    'two ranges of one field, one within the other',
    { filter: { $and: [{ _id: { $gt: 1, $lt: 900 } }, { _id: { $gte: 10, $lte: 20 } }] } },
    { indexes: ['_id_'], keys: 11, docs: 11, returned: 11 },
  ],
  [
    'points and a range of one field: the points are matched',
    { filter: { $and: [{ _id: { $in: [5, 50] } }, { _id: { $gte: 10 } }] } },
    { indexes: ['_id_'], keys: 2, docs: 2, returned: 1 },
  ],
  [
    'a list and one value of a field: the fewer points',
    { filter: { $and: [{ _id: list(5) }, { _id: 3 }, { _id: list(4) }] } },
    { indexes: ['_id_'], keys: 1, docs: 1, returned: 1 },
  ],
  [
    'a partial index serves a filter that implies it',
    { filter: { room: 0, sender: 0, clientId: 'c0' } },
    { indexes: ['client'], keys: 1, docs: 1 },
  ],
  [
    'a partial index does not serve another',
    { filter: { sender: 0, clientId: null } },
    { indexes: ['sender_seq'] },
  ],
  [
    'a partial index serves a range of its field',
    { filter: { deletedAt: { $lte: new Date(500) } } },
    { indexes: ['deleted'], keys: 6, returned: 6 },
  ],
  [
    'a partial index is read whole where only its condition is asked',
    { filter: { deletedAt: { $exists: true } } },
    { indexes: ['deleted'], keys: 10, returned: 10 },
  ],
  ['a partial index does not serve absence', { filter: { deletedAt: null } }, { kind: 'COLLSCAN' }],
  [
    'an $or whose branches all have an index',
    { filter: { $or: [{ _id: 1 }, { room: 2, seq: 5 }] } },
    { kind: 'OR', keys: 2, docs: 2, returned: 2 },
  ],
  [
    'an $or beside a condition that no index says',
    { filter: { $or: [{ _id: 5 }, { _id: 2 }], clientId: 'c5' } },
    { kind: 'OR', docs: 2, returned: 1 },
  ],
  [
    'an $or finds each document once, and sorts what it found',
    { filter: { $or: [{ _id: 7 }, { _id: 5 }, { room: 7, seq: 0 }] }, sort: { _id: 1 } },
    { kind: 'OR', sorts: true, keys: 3, returned: 2 },
  ],
  [
    'an $or with a branch that has none',
    { filter: { $or: [{ _id: 1 }, { nothing: 5 }] } },
    { kind: 'COLLSCAN' },
  ],
  [
    'an $or within an $or, beside a branch that has none',
    { filter: { $or: [{ $or: [{ _id: 1 }, { _id: 2 }] }, { clientId: 'c5' }] } },
    { kind: 'COLLSCAN', returned: 3 },
  ],
  [
    'an $or within an $or whose branches all have an index',
    { filter: { $or: [{ $or: [{ _id: 1 }, { _id: 2 }] }, { room: 2, seq: 5 }] } },
    { kind: 'OR', keys: 3, docs: 3, returned: 3 },
  ],
  [
    'an $or of one branch is that branch',
    { filter: { $or: [{ room: 3, seq: 7 }] }, sort: { seq: 1 } },
    { kind: 'IXSCAN', indexes: ['room_seq'], keys: 1 },
  ],
  [
    '$in of more values than are multiplied',
    { filter: { room: 3, seq: list(5000) }, sort: { seq: 1 } },
    { indexes: ['room_seq'], keys: 100, docs: 100 },
  ],
  [
    '$in lists that multiply to more: the second is matched',
    { filter: { room: list(100, -99), seq: list(100) } },
    { indexes: ['room_seq'], keys: 100, returned: 100 },
  ],
  [
    'contradicting bounds',
    { filter: { room: 3, seq: { $gt: 20, $lt: 10 } } },
    { keys: 0, docs: 0, returned: 0 },
  ],
  [
    'skip and limit',
    { filter: { room: 3 }, sort: { seq: 1 }, skip: 2, limit: 5 },
    { indexes: ['room_seq'], docs: 7, entries: 7, returned: 5 },
  ],
];

describe('embedded database: planner', () => {
  let engine: Engine;
  before(async () => {
    engine = await messages();
  });
  after(() => engine.close());

  for (const [title, query, expected] of cases)
    it(`${title}`, async () => {
      expect(explain(engine, 'm', query)).to.deep.include(expected);
      const ids = (documents: Document[]) => documents.map((document) => document._id);
      const order = (documents: Document[]) =>
        documents.map((document) => Object.keys(query.sort ?? {}).map((field) => document[field]));
      const planned = await find(engine, 'm', { ...query });
      const scanned = await find(engine, 'scanned', { ...query });
      expect(order(planned)).to.deep.equal(order(scanned));
      if (!query.limit) expect(ids(planned)).to.have.members(ids(scanned));
      else expect(planned.length).to.equal(scanned.length);
      const stages = query.limit ? [{ $skip: query.skip ?? 0 }, { $limit: query.limit }] : [];
      expect(await count(engine, 'm', query.filter, stages)).to.equal(planned.length);
    });

  it('serverStatus counts the queries that scanned, by what they asked for', async () => {
    const fresh = buildEngine();
    await runCommand(fresh, { insert: 'c', documents: [{ _id: 1 }] });
    await find(fresh, 'c', { filter: { _id: 1 } });
    for (let i = 0; i < 2; i++)
      await find(fresh, 'c', {
        filter: { $or: [{ b: 1 }, { a: { $ne: 1 } }], 'c.d': 2 },
        sort: { e: 1, f: -1 },
      });
    await find(fresh, 'c', {});
    await count(fresh, 'c', {});
    await count(fresh, 'c', { a: 1 });
    const status = await runCommand(fresh, { serverStatus: 1 });
    expect(status.embedded).to.deep.equal({
      collectionScans: [
        { namespace: 'test.c', query: 'a, b, c.d by e, f', count: 2 },
        { namespace: 'test.c', query: 'all documents', count: 1 },
        { namespace: 'test.c', query: 'a', count: 1 },
      ],
    });
    expect(status.metrics).to.deep.equal({
      cursor: { open: { total: 0 } },
      queryExecutor: { collectionScans: { total: 4 } },
    });
    await fresh.close();
  });

  it('no document is decoded where the bounds say all that the filter says', () => {
    const decodes = (filter: Document) => {
      const query = { filter: parseFilter(filter), sort: [], skip: 0, limit: 0 };
      const found = [...findRecords(engine.storage, collectionIn(engine, 'm'), query)];
      expect(found, JSON.stringify(filter)).not.to.deep.equal([]);
      return found.some(({ document }) => document !== undefined);
    };
    const said: Document[] = [
      ...[{}, { _id: 5 }, { room: 3, seq: 7 }, { room: 3, seq: { $gt: 10, $lte: 20 } }],
      ...[{ _id: { $in: [1, 2] } }, { $or: [{ _id: 5 }, { room: 3, seq: 7 }] }],
    ];
    const more: Document[] = [
      ...[{ _id: 5, seq: { $gte: 0 } }, { room: 3, sender: { $gte: 0 } }, { room: { $exists: true } }],
      ...[{ $or: [{ _id: 5 }, { _id: 2 }], clientId: 'c5' }, { $or: [{ _id: 5 }, { room: 3, sender: 0 }] }],
    ];
    expect(said.filter(decodes)).to.deep.equal([]);
    expect(more.filter((filter) => !decodes(filter))).to.deep.equal([]);
  });
});
