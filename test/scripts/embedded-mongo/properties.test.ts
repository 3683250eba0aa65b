import { Double, Long } from 'bson';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Engine } from '../../../scripts/embedded-mongo/engine.js';
import { indexFaults } from './index-check.js';
import { compare, type Doc, inOrder, matches } from './naive-model.js';
import { UpdateRefused, update } from './naive-update.js';
import { buildEngine, find, runCommand } from './run-command.js';

/** Few and colliding values, so that filters hit and keys repeat. */
const scalar = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom(0.5, Number.NaN, -1e300),
  fc.constantFrom(new Double(1), new Double(-0), Long.fromNumber(2), Long.fromString('9007199254740993')),
  fc.constantFrom('', 'a', 'ab', 'a\0', 'b', '\u{1f600}', '\uffee'),
  fc.constantFrom(null, true, false),
  fc.constantFrom(new Date(0), new Date(-1)),
);
const inner = fc.record({ x: scalar, y: scalar }, { requiredKeys: [], noNullPrototype: true });
const value = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: inner },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(inner, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }) },
);
/** A document has an array in one field at most: an index on two would refuse it. */
const document = fc
  .tuple(
    fc.record(
      { a: scalar, b: scalar, c: fc.oneof(scalar, inner) },
      { requiredKeys: [], noNullPrototype: true },
    ),
    fc.constantFrom('a', 'b', 'c'),
    fc.option(value, { nil: undefined }),
  )
  .map(([base, field, odd]): Doc => (odd === undefined ? base : { ...base, [field]: odd }));

const path = fc.constantFrom('a', 'b', 'c', 'a.x', 'c.x', 'c.y', 'a.0', 'b');
const operators = fc.oneof(
  value.map((operand): unknown => operand),
  fc
    .tuple(fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), value)
    .map(([operator, operand]) => ({ [operator]: operand })),
  fc
    .tuple(fc.constantFrom('$gt', '$gte'), scalar, fc.constantFrom('$lt', '$lte'), scalar)
    .map(([low, from, high, to]) => ({ [low]: from, [high]: to })),
  fc
    .tuple(fc.constantFrom('$in', '$nin', '$all'), fc.array(scalar, { maxLength: 10 }))
    .map(([operator, operand]) => ({ [operator]: operand })),
  fc.boolean().map((operand) => ({ $exists: operand })),
  fc.nat(3).map((operand) => ({ $size: operand })),
  fc
    .tuple(fc.constantFrom('$gt', '$lte', '$eq'), scalar)
    .map(([operator, operand]) => ({ $not: { [operator]: operand } })),
  fc
    .tuple(fc.constantFrom('x', 'y'), scalar)
    .map(([field, operand]) => ({ $elemMatch: { [field]: operand } })),
);
const conjunction = fc
  .array(fc.tuple(path, operators), { maxLength: 3 })
  .map((entries): Doc => Object.fromEntries(entries));
const filter = fc.oneof(
  { weight: 3, arbitrary: conjunction },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('$or', '$and', '$nor'), fc.array(conjunction, { minLength: 1, maxLength: 3 }))
      .map(([operator, list]): Doc => ({ [operator]: list })),
  },
);
const sort = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'c.x'), fc.constantFrom(1, -1)), {
    maxLength: 3,
    selector: ([name]) => name,
  })
  .filter((fields) => !(fields.some(([name]) => name === 'c') && fields.some(([name]) => name === 'c.x')))
  .map((fields): Doc => Object.fromEntries(fields));

const simple = fc.record(
  { x: fc.nat(3), y: fc.constantFrom('a', null) },
  { requiredKeys: [], noNullPrototype: true },
);
const plain = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('a', 'ab', null, true),
  fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
  simple,
);
/** Documents whose numbers JavaScript can add. */
const updatable = fc
  .tuple(
    fc.record(
      { a: plain, b: fc.integer({ min: 0, max: 3 }), c: fc.oneof(fc.constant('c'), fc.integer()) },
      { requiredKeys: [], noNullPrototype: true },
    ),
    fc.option(simple, { nil: undefined }),
  )
  .map(([base, c]): Doc => (c === undefined ? base : { ...base, c }));
const field = fc.constantFrom('a', 'b', 'c', 'c.x', 'a.0', 'b.x.y', 'c.2');
const push = fc.record(
  {
    $each: fc.array(plain, { maxLength: 3 }),
    $position: fc.nat(2),
    $slice: fc.integer({ min: -2, max: 3 }),
    $sort: fc.constantFrom(1, -1),
  },
  { requiredKeys: ['$each'], noNullPrototype: true },
);
const changes = fc
  .oneof(
    fc.tuple(fc.constantFrom('$set', '$min', '$max', '$addToSet'), field, plain),
    fc.tuple(fc.constantFrom('$inc', '$mul'), field, fc.integer({ min: -3, max: 3 })),
    fc.tuple(fc.constant('$unset'), field, fc.constant('')),
    fc.tuple(fc.constant('$push'), field, push),
    fc.tuple(fc.constant('$pop'), field, fc.constantFrom(1, -1)),
    fc.tuple(fc.constant('$pull'), field, fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant({ $gte: 1 }))),
  )
  .map(([operator, name, operand]): Doc => ({ [operator]: { [name]: operand } }));
const action = fc.record({ filter: conjunction, changes: fc.option(changes, { nil: undefined, freq: 8 }) });

/** Each set of indexes in a collection of its own, so that the planner has nothing else to take. */
const INDEXES: Doc[][] = [
  [],
  [{ key: { a: 1 } }],
  [{ key: { a: -1, b: 1 } }],
  [{ key: { b: 1, c: -1, a: 1 } }],
  [{ key: { c: 1 }, sparse: true }, { key: { 'c.x': 1, 'c.y': -1 } }],
  [
    { key: { a: 1, b: 1 }, partialFilterExpression: { a: { $gt: 0 } } },
    { key: { b: -1 }, partialFilterExpression: { b: { $exists: true } } },
  ],
  [{ key: { a: 1 } }, { key: { b: 1 } }, { key: { c: 1 } }, { key: { 'a.x': 1 } }],
];

async function fill(engine: Engine, documents: Doc[]): Promise<void> {
  for (const [i, indexes] of INDEXES.entries()) {
    await runCommand(engine, { create: `c${i}` });
    if (indexes.length > 0)
      await runCommand(engine, {
        createIndexes: `c${i}`,
        indexes: indexes.map((index, n) => ({ name: `i${n}`, ...index })),
      });
    if (documents.length > 0) await runCommand(engine, { insert: `c${i}`, documents });
  }
}

/** Runs a property; a failure prints the seed and path to run it again with SEED=... */
async function check(
  property: fc.IAsyncProperty<unknown> | ReturnType<typeof fc.asyncProperty>,
  numRuns: number,
): Promise<void> {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  await fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns, seed, endOnFailure: false });
}

describe('embedded database: properties', () => {
  it('finds the same through any index as by full scan, and as the naive model', async () => {
    const runs = Number(process.env.PROPERTY_RUNS ?? 150);
    await check(
      fc.asyncProperty(
        fc.array(document, { maxLength: 12 }),
        fc.array(fc.tuple(filter, sort), { minLength: 4, maxLength: 10 }),
        async (bodies, queries) => {
          const documents = bodies.map((body, i) => ({ _id: i, ...body }));
          const engine = buildEngine();
          await fill(engine, documents);
          for (const [filter, sort] of queries) {
            const expected = documents.filter((one) => matches(one, filter)).map((one) => one._id);
            for (let i = 0; i < INDEXES.length; i++) {
              const found = await find(engine, `c${i}`, { filter, sort });
              expect(
                found.map((one) => one._id as number).sort((a, b) => a - b),
                `filter through c${i}`,
              ).to.deep.equal(expected);
              for (let at = 1; at < found.length; at++) {
                const [before, after] = [
                  documents[found[at - 1]?._id as number] as Doc,
                  documents[found[at]?._id as number] as Doc,
                ];
                expect(
                  inOrder(before, after, sort),
                  `order of ${before._id} and ${after._id} in c${i}`,
                ).to.be.at.most(0);
              }
              const counted = await runCommand(engine, { count: `c${i}`, query: filter });
              expect(counted.n, `count through c${i}`).to.equal(expected.length);
            }
          }
          await engine.close();
        },
      ),
      runs,
    );
  });

  it('updates, deletes and refuses as the naive model, and keeps every index entry in step', async () => {
    const runs = Number(process.env.PROPERTY_RUNS ?? 150);
    await check(
      fc.asyncProperty(
        fc.array(updatable, { maxLength: 8 }),
        fc.array(action, { minLength: 1, maxLength: 12 }),
        async (bodies, actions) => {
          const engine = buildEngine();
          await fill(
            engine,
            bodies.map((body, i) => ({ _id: i, ...body })),
          );
          for (let c = 0; c < INDEXES.length; c++) {
            let model: Doc[] = bodies.map((body, i) => ({ _id: i, ...body }));
            for (const { filter, changes } of actions)
              model = await actBoth(engine, `c${c}`, model, filter, changes);
            const collection = engine.catalog.find('test', `c${c}`);
            if (!collection) throw new Error('no collection');
            expect(indexFaults(engine, collection)).to.deep.equal([]);
          }
          await engine.close();
        },
      ),
      runs,
    );
  });
});

/** Runs one multi-document update (or delete, without changes) on both sides; returns the model's documents after it. */
async function actBoth(
  engine: Engine,
  name: string,
  model: Doc[],
  filter: Doc,
  changes: Doc | undefined,
): Promise<Doc[]> {
  const hit = model.filter((one) => matches(one, filter));
  if (!changes) {
    const reply = await runCommand(engine, { delete: name, deletes: [{ q: filter, limit: 0 }] });
    expect(reply.n).to.equal(hit.length);
    return model.filter((one) => !hit.includes(one));
  }
  const updates = (one: Doc) => ({ update: name, updates: [{ q: { _id: one._id }, u: changes }] });
  const after: Doc[] = [];
  for (const one of model) {
    if (!hit.includes(one)) {
      after.push(one);
      continue;
    }
    const reply = await runCommand(engine, updates(one));
    let expected = one;
    try {
      expected = update(one, changes);
    } catch (error) {
      if (!(error instanceof UpdateRefused)) throw error;
      expect(reply.writeErrors, `refused: ${JSON.stringify(changes)}`).to.have.lengthOf(1);
    }
    const [stored] = await find(engine, name, { filter: { _id: one._id } });
    // An index may refuse what the update alone allows: two arrays in one document.
    const refused = (reply.writeErrors as { code: number }[] | undefined)?.[0]?.code === 171;
    if (refused) expected = one;
    expect(
      compare(stored, expected),
      `${JSON.stringify(stored)} is not ${JSON.stringify(expected)}`,
    ).to.equal(0);
    after.push(expected);
  }
  return after;
}
