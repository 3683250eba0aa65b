import { expect } from 'chai';
import type { Engine } from '../../../scripts/embedded-mongo/commands/engine.js';
import { parseFilter } from '../../../scripts/embedded-mongo/query/filter.js';
import { findRecords } from '../../../scripts/embedded-mongo/query/find-records.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { type Explained, explain, messages } from './planned-messages.js';
import { buildEngine, type CommandFailure, find, runCommand } from './run-command.js';

type Case = [title: string, command: Document, expected: Partial<Explained>];

const cases: Case[] = [
  [
    'equality on _id reads one key and one document',
    { filter: { _id: 5 } },
    { stages: ['FETCH', 'IXSCAN'], index: '_id_', keys: 1, docs: 1, returned: 1 },
  ],
  [
    'equality on a whole unique index',
    { filter: { room: 3, seq: 7 } },
    { index: 'room_seq', keys: 1, docs: 1 },
  ],
  [
    'equality and range, exactly as many keys as documents',
    { filter: { room: 3, seq: { $gt: 10, $lte: 20 } } },
    { index: 'room_seq', keys: 10, docs: 10, returned: 10 },
  ],
  [
    'equality, then the sort of the index',
    { filter: { room: 3 }, sort: { seq: 1 }, limit: 5 },
    { stages: ['LIMIT', 'FETCH', 'IXSCAN'], index: 'room_seq', keys: 5, docs: 5 },
  ],
  [
    'the same backwards',
    { filter: { room: 3 }, sort: { seq: -1 }, limit: 5 },
    { stages: ['LIMIT', 'FETCH', 'IXSCAN'], direction: 'backward', keys: 5 },
  ],
  [
    'a range before the sort field',
    { filter: { room: 3, seq: { $lt: 50 } }, sort: { seq: -1 }, limit: 50 },
    { index: 'room_seq', direction: 'backward', keys: 50 },
  ],
  [
    'a descending index field',
    { filter: { sender: 1 }, sort: { seq: -1 }, limit: 3 },
    { index: 'sender_seq', direction: 'forward', keys: 3 },
  ],
  [
    'sort by all fields of an index',
    { filter: {}, sort: { room: 1, seq: 1 }, limit: 4 },
    { stages: ['LIMIT', 'FETCH', 'IXSCAN'], keys: 4 },
  ],
  [
    'sort by all fields, turned round',
    { filter: {}, sort: { room: -1, seq: -1 }, limit: 4 },
    { stages: ['LIMIT', 'FETCH', 'IXSCAN'], direction: 'backward' },
  ],
  [
    'a whole index backwards, in many steps',
    { filter: {}, sort: { room: -1, seq: -1 } },
    { stages: ['FETCH', 'IXSCAN'], direction: 'backward', keys: 1000, returned: 1000 },
  ],
  [
    'ranges of many steps, merged forwards',
    { filter: { sender: { $in: [0, 1, 2] } }, sort: { seq: -1 } },
    { stages: ['FETCH', 'SORT_MERGE', 'IXSCAN'], index: 'sender_seq', keys: 1000, returned: 1000 },
  ],
  [
    'ranges of many steps, merged backwards',
    { filter: { sender: { $in: [0, 2] } }, sort: { seq: 1 } },
    { stages: ['FETCH', 'SORT_MERGE', 'IXSCAN'], index: 'sender_seq', keys: 667, returned: 667 },
  ],
  [
    'an $or beside a condition that no index says',
    { filter: { $or: [{ _id: 5 }, { _id: 2 }], clientId: 'c5' } },
    { stages: ['FETCH', 'OR', 'IXSCAN'], docs: 2, returned: 1 },
  ],
  [
    'a sort in directions the index does not have',
    { filter: {}, sort: { room: 1, seq: -1 }, limit: 4 },
    { stages: ['LIMIT', 'SORT', 'COLLSCAN'], docs: 1000 },
  ],
  [
    '$in as several points',
    { filter: { room: { $in: [1, 2, 2, 99] }, seq: 4 } },
    { index: 'room_seq', keys: 2, docs: 2 },
  ],
  [
    '$in with a sort merges the points',
    { filter: { room: { $in: [1, 2, 3] } }, sort: { seq: -1 }, limit: 4 },
    { stages: ['LIMIT', 'FETCH', 'SORT_MERGE', 'IXSCAN'], docs: 4 },
  ],
  [
    'what the index does not know is matched',
    { filter: { room: 3, seq: { $gte: 90 }, clientId: { $exists: false } } },
    { index: 'room_seq', keys: 10, docs: 10, returned: 10 },
  ],
  [
    'a partial index serves a filter that implies it',
    { filter: { room: 0, sender: 0, clientId: 'c0' } },
    { index: 'client', keys: 1, docs: 1 },
  ],
  [
    'a partial index does not serve another',
    { filter: { sender: 0, clientId: null } },
    { index: 'sender_seq' },
  ],
  [
    'a sparse index serves what demands the field',
    { filter: { deletedAt: { $lte: new Date(500) } } },
    { index: 'deleted', keys: 6, returned: 6 },
  ],
  [
    'a sparse index is read whole where only the field is demanded',
    { filter: { deletedAt: { $exists: true } } },
    { index: 'deleted', keys: 10, returned: 10 },
  ],
  [
    'a sparse index does not serve its absence',
    { filter: { deletedAt: null } },
    { stages: ['COLLSCAN'], docs: 1000 },
  ],
  [
    'a multikey index finds each document once',
    { filter: { tags: { $in: ['t1', 'u1'] } } },
    { index: 'tags', returned: 400, docs: 400 },
  ],
  [
    'a multikey index takes one bound of a range and matches the rest',
    { filter: { tags: { $gte: 'u3', $lt: 'u4' } } },
    { index: 'tags' },
  ],
  [
    'a multikey index does not sort',
    { filter: { tags: 't1' }, sort: { tags: 1 } },
    { stages: ['SORT', 'FETCH', 'IXSCAN'] },
  ],
  ['a prefix expression is a range', { filter: { tags: /^t1/ } }, { index: 'tags', keys: 250 }],
  ['an unanchored expression is not', { filter: { tags: /1/ } }, { stages: ['COLLSCAN'] }],
  [
    'an $or whose branches all have an index',
    { filter: { $or: [{ _id: 1 }, { room: 2, seq: 5 }] } },
    { stages: ['FETCH', 'OR', 'IXSCAN'], keys: 2, docs: 2, returned: 2 },
  ],
  [
    'an $or with a branch that has none',
    { filter: { $or: [{ _id: 1 }, { nothing: 5 }] } },
    { stages: ['COLLSCAN'] },
  ],
  [
    'an $or within an $or, beside a branch that has none',
    { filter: { $or: [{ $or: [{ _id: 1 }, { _id: 2 }] }, { clientId: 'c5' }] } },
    { stages: ['COLLSCAN'], docs: 1000, returned: 3 },
  ],
  [
    'an $or within an $or whose branches all have an index',
    { filter: { $or: [{ $or: [{ _id: 1 }, { _id: 2 }] }, { room: 2, seq: 5 }] } },
    { stages: ['FETCH', 'OR', 'IXSCAN'], keys: 3, docs: 3, returned: 3 },
  ],
  [
    'an $or of one branch with another condition',
    { filter: { $or: [{ $or: [{ _id: 5 }], clientId: 'none' }, { _id: 2 }] } },
    { stages: ['FETCH', 'OR', 'IXSCAN'], docs: 2, returned: 1 },
  ],
  [
    '$in on two fields with a sort by the second',
    { filter: { room: { $in: [1, 2] }, seq: { $in: [5, 3] } }, sort: { seq: 1 } },
    { stages: ['FETCH', 'SORT_MERGE', 'IXSCAN'], keys: 4 },
  ],
  [
    'the same backwards, limited',
    { filter: { room: { $in: [1, 2] }, seq: { $in: [5, 3, 9] } }, sort: { seq: -1 }, limit: 3 },
    { stages: ['LIMIT', 'FETCH', 'SORT_MERGE', 'IXSCAN'], docs: 3 },
  ],
  [
    '$in on two fields with a sort by both is the order of the index',
    { filter: { room: { $in: [2, 1] }, seq: { $in: [5, 3] } }, sort: { room: -1, seq: -1 } },
    { stages: ['FETCH', 'IXSCAN'], direction: 'backward', keys: 4 },
  ],
  [
    '$in of more values than are multiplied',
    { filter: { room: 3, seq: { $in: Array.from({ length: 5000 }, (_, i) => i) } }, sort: { seq: 1 } },
    { stages: ['FETCH', 'IXSCAN'], index: 'room_seq', keys: 100, docs: 100 },
  ],
  [
    '$in of more values than are merged',
    { filter: { room: { $in: Array.from({ length: 5000 }, (_, i) => i - 4998) } }, sort: { seq: 1 } },
    { stages: ['SORT', 'FETCH', 'IXSCAN'], index: 'room_seq', docs: 200 },
  ],
  [
    '$in lists that multiply to more: the second is matched',
    {
      filter: {
        room: { $in: Array.from({ length: 100 }, (_, i) => i - 99) },
        seq: { $in: Array.from({ length: 100 }, (_, i) => 99 - i) },
      },
    },
    { stages: ['FETCH', 'IXSCAN'], index: 'room_seq', keys: 100, returned: 100 },
  ],
  [
    'contradicting bounds',
    { filter: { room: 3, seq: { $gt: 20, $lt: 10 } } },
    { keys: 0, docs: 0, returned: 0 },
  ],
  [
    'a comparison with null is a point or nothing',
    { filter: { sender: { $lte: null } } },
    { index: 'sender_seq', keys: 0, docs: 0 },
  ],
  [
    'null is also a lower bound',
    { filter: { sender: { $gte: null } } },
    { index: 'sender_seq', keys: 0, docs: 0 },
  ],
  [
    'skip and limit',
    { filter: { room: 3 }, sort: { seq: 1 }, skip: 2, limit: 5 },
    { stages: ['LIMIT', 'SKIP', 'FETCH', 'IXSCAN'], keys: 7, returned: 5 },
  ],
  [
    'a hint by name',
    { filter: { room: 3, sender: 0 }, hint: 'sender_seq' },
    { index: 'sender_seq', keys: 334 },
  ],
  [
    'a hint by key pattern',
    { filter: { room: 3 }, hint: { _id: 1 } },
    { index: '_id_', keys: 1000, returned: 100 },
  ],
  [
    'a hint of natural order',
    { filter: { _id: 3 }, hint: { $natural: 1 } },
    { stages: ['COLLSCAN'], docs: 1000, returned: 1 },
  ],
];

describe('embedded database: planner', () => {
  let engine: Engine;
  before(async () => {
    engine = await messages();
  });
  after(() => engine.close());

  for (const [title, command, expected] of cases)
    it(`${title}`, async () => {
      expect(await explain(engine, { find: 'm', ...command })).to.deep.include(expected);
      const { hint: _hint, ...unhinted } = command;
      const ids = (list: Document[]) => list.map((document) => document._id);
      const order = (list: Document[]) =>
        list.map((document) => Object.keys(command.sort ?? {}).map((field) => document[field]));
      const planned = await find(engine, 'm', command);
      const scanned = await find(engine, 'm', { ...unhinted, hint: { $natural: 1 } });
      expect(order(planned)).to.deep.equal(order(scanned));
      if (!command.limit) expect(ids(planned)).to.have.members(ids(scanned));
      else expect(planned.length).to.equal(scanned.length);
    });

  it('explains aggregate, count, update, delete and findAndModify by the same planner', async () => {
    const filter = { room: 3, seq: 7 };
    for (const command of [
      { aggregate: 'm', pipeline: [{ $match: filter }, { $group: { _id: '$sender' } }], cursor: {} },
      { count: 'm', query: filter },
      { distinct: 'm', key: 'sender', query: filter },
      { update: 'm', updates: [{ q: filter, u: { $set: { a: 1 } } }] },
      { delete: 'm', deletes: [{ q: filter, limit: 1 }] },
      { findAndModify: 'm', query: filter, update: { $set: { a: 1 } } },
    ])
      expect(await explain(engine, command), JSON.stringify(command)).to.include({
        index: 'room_seq',
        keys: 1,
      });
    expect(await find(engine, 'm', { filter: { a: 1 } })).to.deep.equal([]);
  });

  it('a hint of an index that is not there is an error', async () => {
    const failure = await find(engine, 'm', { hint: 'nope' }).catch((error) => error);
    expect((failure as CommandFailure).reply).to.include({ code: 2, codeName: 'BadValue' });
  });

  it('serverStatus names the queries that scanned', async () => {
    const fresh = buildEngine();
    await runCommand(fresh, { insert: 'c', documents: [{ _id: 1 }] });
    await find(fresh, 'c', { filter: { _id: 1 } });
    await find(fresh, 'c', { filter: { a: 1 }, sort: { b: 1 } });
    const status = await runCommand(fresh, { serverStatus: 1 });
    expect(status.embedded).to.deep.equal({
      collectionScans: [{ namespace: 'test.c', query: 'a by b', count: 1 }],
    });
    await fresh.close();
  });

  it('no document is decoded where the bounds say all that the filter says', () => {
    const collection = engine.catalog.find('test', 'm');
    if (!collection) throw new Error('no collection');
    const decodes = (filter: Document) => {
      const query = { filter: parseFilter(filter), sort: [], skip: 0, limit: 0 };
      const found = [...findRecords(engine.storage, collection, query)];
      expect(found, JSON.stringify(filter)).not.to.deep.equal([]);
      return found.some(({ document }) => document !== undefined);
    };
    const said: Document[] = [
      ...[
        {},
        { _id: 5 },
        { room: 3, seq: 7 },
        { room: 3, seq: { $gt: 10, $lte: 20 } },
        { _id: { $in: [1, 2] } },
      ],
      { $or: [{ _id: 5 }, { room: 3, seq: 7 }] },
    ];
    const more: Document[] = [
      ...[{ _id: 5, seq: { $gte: 0 } }, { room: 3, sender: { $gte: 0 } }, { tags: 't1' }],
      ...[{ $or: [{ _id: 5 }, { _id: 2 }], clientId: 'c5' }, { $or: [{ _id: 5 }, { room: 3, sender: 0 }] }],
    ];
    expect(said.filter(decodes)).to.deep.equal([]);
    expect(more.filter((filter) => !decodes(filter))).to.deep.equal([]);
  });
});
