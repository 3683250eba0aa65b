import { expect } from 'chai';
import type { Engine } from '../../../scripts/embedded-mongo/commands/engine.js';
import { MemoryStorage } from '../../../scripts/embedded-mongo/storage/storage.memory.js';
import type { Document } from '../../../scripts/embedded-mongo/values/bson-types.js';
import { explain } from './planned-messages.js';
import { buildEngine, find, runCommand } from './run-command.js';

/** A collection with indexes, each named by its fields: `a,b`. */
async function build(engine: Engine, documents: Document[], indexes: Document[]): Promise<void> {
  await runCommand(engine, { create: 'c' });
  const named = indexes.map((index) => ({ name: Object.keys(index.key as Document).join(), ...index }));
  if (named.length > 0) await runCommand(engine, { createIndexes: 'c', indexes: named });
  await runCommand(engine, { insert: 'c', documents });
}

const key = (...names: string[]): Document => ({ key: Object.fromEntries(names.map((name) => [name, 1])) });

/** Some indexes, worse ones first; a query; which of them serves it. */
const choices: [title: string, indexes: Document[], command: Document, chosen: string][] = [
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
  ['what leaves nothing to match before what does', [key('a', 'list'), key('a')], { filter: { a: 1 } }, 'a'],
];

describe('embedded database: which index is chosen', () => {
  const documents = Array.from({ length: 20 }, (_, i) => ({
    ...{ _id: i, a: i % 2, b: i % 4, r: i, s: -i, u: i, list: [i, i + 1] },
  }));

  for (const [title, indexes, command, chosen] of choices)
    it(title, async () => {
      const engine = buildEngine();
      await build(engine, documents, indexes);
      expect((await explain(engine, { find: 'c', ...command })).index).to.equal(chosen);
      await engine.close();
    });

  it('$in lists of one index are multiplied to 4,000 ranges and merged to 1,000', async () => {
    const engine = buildEngine();
    await build(engine, documents, [key('a', 'b', 's')]);
    const list = (length: number) => ({ $in: Array.from({ length }, (_, i) => i) });
    const stagesOf = async (b: number, sort: Document) =>
      (await explain(engine, { find: 'c', filter: { a: list(2), b: list(b) }, sort })).stages;
    expect(await stagesOf(500, { s: 1 })).to.deep.equal(['FETCH', 'SORT_MERGE', 'IXSCAN']);
    expect(await stagesOf(501, { s: 1 })).to.deep.equal(['SORT', 'FETCH', 'IXSCAN']);
    const scanned = async (b: number) =>
      (
        await explain(engine, {
          find: 'c',
          filter: { a: list(2), b: { $in: [3, ...list(b).$in.slice(10)] } },
        })
      ).docs;
    expect(await scanned(2009), 'both fields').to.equal(5);
    expect(await scanned(2010), 'only the first').to.equal(20);
    await engine.close();
  });
});

/** Values with and without arrays on the way, so that every pair of conditions meets in one element and in two. */
function nested(): Document[] {
  const pairs = [0, 1, 2].flatMap((x) => [0, 1, 2].map((y) => ({ x, y })));
  const values: unknown[] = [
    ...pairs,
    ...pairs.map(({ x, y }) => [
      { x, y: (y + 1) % 3 },
      { x: (x + 1) % 3, y },
    ]),
    ...[
      [],
      [{}],
      [{ x: 1 }, { y: 1 }],
      { x: [0, 2], y: 1 },
      { x: 1, y: [0, 2] },
      [[{ x: 1, y: 1 }]],
      1,
      null,
    ],
  ];
  return [{ _id: 0, b: 1 }, ...values.map((c, i) => ({ _id: i + 1, b: i % 3, c }))];
}

function nestedFilters(): Document[] {
  const operands = [1, { $gt: 0, $lt: 2 }, { $in: [0, 2] }, null, { $ne: 1 }];
  const both = operands.flatMap((x) => operands.map((y) => ({ x, y })));
  return [
    ...both.map(({ x, y }) => ({ 'c.x': x, 'c.y': y })),
    ...both.map((c) => ({ c: { $elemMatch: c } })),
    ...operands.flatMap((x) => [
      { b: 1, 'c.x': x },
      { 'c.x': x, b: { $gt: 0 } },
    ]),
    ...[{ x: 1, y: 1 }, { $gt: 0 }, [], null].map((c) => ({ c, b: 1 })),
    { $or: [{ 'c.x': 1 }, { 'c.y': 1 }], b: 1 },
    { $or: [{ 'c.x': 1, b: 0 }, { 'c.x': 2 }] },
  ];
}

describe('embedded database: indexes over arrays', () => {
  const indexes = [
    ...[key('c.x', 'c.y'), { key: { 'c.y': -1, 'c.x': 1 } }, key('b', 'c.x'), key('c.x', 'b'), key('c', 'b')],
    { ...key('c.x'), sparse: true },
  ];

  async function expectSameAsScan(engine: Engine): Promise<void> {
    for (const filter of nestedFilters()) {
      const ask = (command: Document) => find(engine, 'c', { filter, ...command });
      const scanned = (await ask({ hint: { $natural: 1 } })).map(({ _id }) => _id);
      const label = JSON.stringify(filter);
      for (const hint of [undefined, ...indexes.slice(0, 5).map((index) => index.key)]) {
        const found = await ask(hint ? { hint } : {});
        expect(
          found.map(({ _id }) => _id),
          `${label} by ${JSON.stringify(hint)}`,
        ).to.have.members(scanned);
        const counted = await runCommand(engine, { count: 'c', query: filter, ...(hint ? { hint } : {}) });
        expect(counted.n, `${label} counted by ${JSON.stringify(hint)}`).to.equal(scanned.length);
      }
      const sorted = (await ask({ sort: { 'c.x': -1, _id: 1 } })).map(({ _id }) => _id);
      const expected = (await ask({ sort: { 'c.x': -1, _id: 1 }, hint: { $natural: 1 } })).map(
        ({ _id }) => _id,
      );
      expect(sorted, label).to.deep.equal(expected);
    }
  }

  it('find and count what a scan finds, also after a restart', async () => {
    const storage = new MemoryStorage();
    const engine = buildEngine(storage);
    await build(engine, nested(), indexes);
    engine.cursors.close();
    // A second engine over the same store knows what a restart leaves.
    const restarted = buildEngine(storage);
    await expectSameAsScan(restarted);
    await restarted.close();
  });

  it('an array that is gone again leaves its index as careful as before', async () => {
    const engine = buildEngine();
    await build(engine, [{ _id: 1, c: [0, 3] }], [key('c')]);
    await runCommand(engine, { update: 'c', updates: [{ q: {}, u: { $set: { c: 1 } } }] });
    await runCommand(engine, { insert: 'c', documents: [{ _id: 2, c: [0, 3] }] });
    expect(await find(engine, 'c', { filter: { c: { $gt: 1, $lt: 2 } } })).to.have.lengthOf(1);
    expect(await find(engine, 'c', { filter: { c: { $gte: 0 } } })).to.have.lengthOf(2);
    await engine.close();
  });
});

describe('embedded database: sparse compound indexes', () => {
  it('hold what has any of their fields, and are unique among those', async () => {
    const engine = buildEngine();
    await build(
      engine,
      [{ _id: 1, a: 1 }, { _id: 2, b: 1 }, { _id: 3 }, { _id: 4 }],
      [{ ...key('a', 'b'), sparse: true, unique: true }],
    );
    const hint = { a: 1, b: 1 };
    expect(await find(engine, 'c', { filter: { b: 1 }, hint })).to.deep.equal([{ _id: 2, b: 1 }]);
    expect(await find(engine, 'c', { filter: { a: 1 }, hint })).to.deep.equal([{ _id: 1, a: 1 }]);
    for (const document of [{ a: 1 }, { b: 1 }]) {
      const reply = await runCommand(engine, { insert: 'c', documents: [document] });
      expect((reply.writeErrors as Document[])?.[0]?.code, JSON.stringify(document)).to.equal(11000);
    }
    expect(await runCommand(engine, { insert: 'c', documents: [{ _id: 5 }] })).to.include({ n: 1 });
    await engine.close();
  });
});
