import { Double } from 'bson';
import { expect } from 'chai';
import type { Engine } from '../../src/commands/engine.js';
import type { Document } from '../../src/values/bson-types.js';
import { buildEngine, failureOf, find, runCommand } from '../support/run-command.js';
import { explain, type Query } from './planned-messages.js';

/** A collection with indexes, each named by its fields: `a,b`. */
async function build(engine: Engine, documents: Document[], indexes: Document[]): Promise<void> {
  await runCommand(engine, { create: 'c' });
  const named = indexes.map((index) => ({ name: Object.keys(index.key as Document).join(), ...index }));
  if (named.length > 0) await runCommand(engine, { createIndexes: 'c', indexes: named });
  await runCommand(engine, { insert: 'c', documents });
}

const key = (...names: string[]): Document => ({ key: Object.fromEntries(names.map((name) => [name, 1])) });

/** Some indexes, worse ones first; a query; which of them serves it. */
const choices: [title: string, indexes: Document[], query: Query, chosen: string][] = [
  ['an equality before a range', [key('r'), key('a')], { filter: { a: 1, r: { $gt: 5 } } }, 'a'],
  ['two equalities before one', [key('a'), key('a', 'b')], { filter: { a: 1, b: 1 } }, 'a,b'],
  [
    'two equalities before one with the order',
    [key('a', 's'), key('a', 'b')],
    { filter: { a: 1, b: 1 }, sort: { s: 1 } },
    'a,b',
  ],
  ['a range besides an equality', [key('a'), key('a', 'r')], { filter: { a: 1, r: { $gt: 5 } } }, 'a,r'],
  [
    'a range that gives the order before an equality that does not',
    [key('a'), key('r')],
    { filter: { a: 1, r: { $gt: 5 } }, sort: { r: 1 } },
    'r',
  ],
  ['the order before a range', [key('r'), key('s')], { filter: { r: { $gt: 5 } }, sort: { s: 1 } }, 's'],
  ['an equality before the order', [key('s'), key('a')], { filter: { a: 1 }, sort: { s: 1 } }, 'a'],
  [
    'a look-up of one document before any number of equalities',
    [key('a', 'b', 's'), { ...key('u'), unique: true }],
    { filter: { a: 1, b: 1, s: 1, u: 1 } },
    'u',
  ],
  [
    'a unique index only where all of its fields are given',
    [{ ...key('u', 'r'), unique: true }, key('a', 'b')],
    { filter: { a: 1, b: 1, u: 1 } },
    'a,b',
  ],
  [
    'two points, one of them of a missing field, before a point and a range',
    [key('a', 'b'), key('a', 's')],
    { filter: { a: 1, b: { $exists: false }, s: { $gt: 0 } } },
    'a,b',
  ],
  ['the first of two that serve alike', [key('a', 'b'), key('a')], { filter: { a: 1 } }, 'a,b'],
  [
    'one that holds fewer documents before one that holds all',
    [key('a'), { ...key('a', 'u'), partialFilterExpression: { u: { $exists: true } } }],
    { filter: { a: 1, u: { $in: [1, 2] } } },
    'a,u',
  ],
  [
    'one that holds fewer documents, alike for the rest',
    [key('a'), { ...key('a', 's'), partialFilterExpression: { b: 1 } }],
    { filter: { a: 1, b: 1 } },
    'a,s',
  ],
];

describe('embedded database: which index is chosen', () => {
  const documents = Array.from({ length: 20 }, (_, i) => ({
    ...{ _id: i, a: i % 2, b: i % 4, r: i, s: -i, u: i },
  }));

  for (const [title, indexes, query, chosen] of choices)
    it(title, async () => {
      const engine = buildEngine();
      await build(engine, documents, indexes);
      expect(explain(engine, 'c', query).indexes).to.deep.equal([chosen]);
      await engine.close();
    });

  it('$in lists of one index are multiplied to 4,000 ranges', async () => {
    const engine = buildEngine();
    await build(engine, documents, [key('a', 'b', 's')]);
    const list = (length: number) => Array.from({ length }, (_, i) => i);
    const read = (b: number) =>
      explain(engine, 'c', { filter: { a: { $in: list(2) }, b: { $in: [3, ...list(b).slice(10)] } } }).docs;
    expect(read(2009), 'both fields').to.equal(5);
    expect(read(2010), 'only the first').to.equal(20);
    await engine.close();
  });
});

describe('embedded database: partial indexes', () => {
  const exists = { a: { $exists: true } };
  const served: [condition: Document, filter: Document, isServed: boolean][] = [
    [exists, { a: 1 }, true],
    [exists, { a: { $gt: 'a' } }, true],
    [exists, { a: { $regex: 'x' } }, true],
    [exists, { a: { $in: [1, 'x'] } }, true],
    [exists, { $and: [{ b: 1 }, { $or: [{ a: 1 }] }] }, true],
    [exists, { a: null }, false],
    [exists, { a: { $in: [1, null] } }, false],
    [exists, { a: { $ne: 1 } }, false],
    [exists, { a: { $exists: false } }, false],
    [exists, { b: 1 }, false],
    [exists, { 'a.b': 1 }, false],
    [exists, { $or: [{ a: 1 }, { b: 1 }] }, false],
    [exists, {}, false],
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, { a: new Double(1) }, true],
    [{ a: 1 }, { a: { $in: [1, 1] } }, true],
    [{ a: 1 }, { a: { $in: [1, 2] } }, false],
    [{ a: 1 }, { a: { $gte: 1, $lte: 1 } }, false],
    [{ a: 1 }, { a: { $ne: 1 } }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: 1, b: { $exists: true } }, { a: 1 }, false],
    [{ a: 1, b: { $exists: true } }, { a: 1, b: 2 }, true],
    [{ a: null }, { a: null }, true],
    [{ a: null }, { a: { $exists: false } }, false],
  ];
  for (const [partialFilterExpression, filter, isServed] of served)
    it(`${isServed ? 'serve' : 'do not serve'} ${JSON.stringify(filter)} over ${JSON.stringify(partialFilterExpression)}`, async () => {
      const engine = buildEngine();
      const documents = [
        {},
        { a: null },
        { a: 1 },
        { a: 1, b: 2 },
        { a: 2, b: 1 },
        { a: 'x' },
        { a: { b: 1 } },
      ];
      await build(engine, documents, [{ ...key('a'), partialFilterExpression }]);
      expect(explain(engine, 'c', { filter }).indexes).to.deep.equal(isServed ? ['a'] : []);
      await runCommand(engine, { insert: 'all', documents });
      const shape = { filter, projection: { _id: 0 } };
      expect(await find(engine, 'c', shape)).to.have.deep.members(await find(engine, 'all', shape));
      await engine.close();
    });

  it('hold what fulfils their condition, and are unique among those', async () => {
    const engine = buildEngine();
    await build(
      engine,
      [
        { _id: 1, a: 1, b: 1 },
        { _id: 2, a: 1 },
      ],
      [{ ...key('a'), unique: true, partialFilterExpression: { b: { $exists: true } } }],
    );
    const codeOf = async (command: Document) => (await failureOf(engine, command)).code;
    expect(await codeOf({ insert: 'c', documents: [{ _id: 3, a: 1, b: 2 }] })).to.equal(11000);
    expect(await codeOf({ insert: 'c', documents: [{ _id: 3, a: 1 }] })).to.equal(undefined);
    const set = (_id: number, u: Document) => codeOf({ update: 'c', updates: [{ q: { _id }, u }] });
    expect(await set(3, { $set: { b: 1 } })).to.equal(11000);
    expect(await set(1, { $unset: { b: 1 } }), 'leaves the index').to.equal(undefined);
    expect(await set(3, { $set: { b: 1 } }), 'enters it').to.equal(undefined);
    expect(await set(3, { $set: { b: 2 } }), 'stays').to.equal(undefined);
    expect(explain(engine, 'c', { filter: { a: 1, b: { $gt: 0 } } })).to.include({ keys: 1, returned: 1 });
    await engine.close();
  });
});
