import { expect } from 'chai';
import fc from 'fast-check';
import type { Engine } from '../src/commands/engine.js';
import { action, documents, filter, indexes, sort, updatable } from './support/arbitraries.js';
import { indexFaults } from './support/index-check.js';
import { compare, type Doc, distinctValues, inOrder, matches, type Value } from './support/naive-model.js';
import { UpdateRefused, update } from './support/naive-update.js';
import { buildEngine, count, find, runCommand } from './support/run-command.js';

/** Sets of indexes, each in a collection of its own, so that the planner has nothing else to take. */
const INDEXES: Doc[][] = [
  [],
  [{ key: { b: 1, c: -1, a: 1 } }],
  [{ key: { 'c.x': 1, 'c.y': -1 } }],
  [
    { key: { a: 1, b: 1 }, partialFilterExpression: { a: { $exists: true } } },
    { key: { b: -1 }, partialFilterExpression: { b: 1 } },
  ],
  [{ key: { a: 1 } }, { key: { b: 1 } }, { key: { c: 1 } }, { key: { 'a.x': 1 } }],
];

/** Fills a collection for each set of indexes and for `random`; returns their names. */
async function fill(engine: Engine, documents: Doc[], random: Doc[]): Promise<string[]> {
  const sets = [...INDEXES, random];
  for (const [i, indexes] of sets.entries()) {
    await runCommand(engine, { create: `c${i}` });
    if (indexes.length > 0)
      await runCommand(engine, {
        createIndexes: `c${i}`,
        indexes: indexes.map((index, n) => ({ name: `i${n}`, ...index })),
      });
    if (documents.length > 0) await runCommand(engine, { insert: `c${i}`, documents });
  }
  return sets.map((_, i) => `c${i}`);
}

/** Documents in the order of a sort: ids may differ among equals, but not what they are sorted by. */
function expectOrder(found: Doc[], expected: Doc[], sort: Doc, label: string): void {
  expect(found.length, label).to.equal(expected.length);
  for (const [i, one] of found.entries())
    expect(inOrder(one, expected[i] as Doc, sort), `${label}: order at ${i}`).to.equal(0);
}

/** Runs a property; a failure prints the seed and path to run it again with SEED=... */
async function check(
  property: fc.IAsyncProperty<unknown> | ReturnType<typeof fc.asyncProperty>,
  numRuns: number,
): Promise<void> {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  await fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns, seed, endOnFailure: false });
}

const RUNS = Number(process.env.PROPERTY_RUNS ?? 50);

describe('embedded database: properties', () => {
  it('finds, counts and tells apart the same through any index as by full scan, and as the naive model', () =>
    check(
      fc.asyncProperty(
        documents,
        indexes,
        fc.array(fc.tuple(filter, sort, fc.nat(3), fc.nat(6)), { minLength: 3, maxLength: 6 }),
        // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: model and engine side by side
        async (bodies, random, queries) => {
          const all = bodies.map((body, i): Doc => ({ _id: i, ...body }));
          const engine = buildEngine();
          const names = await fill(engine, all, random);
          for (const [filter, sort, skip, limit] of queries) {
            const matching = all.filter((one) => matches(one, filter));
            const ordered = [...matching].sort((a, b) => inOrder(a, b, sort));
            const part = ordered.slice(skip, limit === 0 ? undefined : skip + limit);
            for (const name of names) {
              const found = (await find(engine, name, { filter, sort })).map(
                (one) => all[Number(one._id)] as Doc,
              );
              expect(found, `filter through ${name}`).to.have.members(matching);
              expectOrder(found, ordered, sort, `sort through ${name}`);
              const cut = await find(engine, name, { filter, sort, skip, limit });
              expectOrder(
                cut.map((one) => all[Number(one._id)] as Doc),
                part,
                sort,
                `limit through ${name}`,
              );
              const stages = [{ $skip: skip }, ...(limit > 0 ? [{ $limit: limit }] : [])];
              expect(await count(engine, name, filter, stages), `count through ${name}`).to.equal(
                part.length,
              );
              const { values } = await runCommand(engine, { distinct: name, key: 'd', query: filter });
              expectSame(values as Value[], distinctValues(matching, 'd'), `distinct through ${name}`);
            }
          }
          await engine.close();
        },
      ),
      RUNS,
    ));

  it('updates, deletes and refuses as the naive model, and keeps every index entry in step', () =>
    check(
      fc.asyncProperty(
        fc.array(updatable, { maxLength: 8 }),
        indexes,
        fc.array(action, { minLength: 1, maxLength: 12 }),
        // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: model and engine side by side
        async (bodies, random, actions) => {
          const documents = bodies.map((body, i): Doc => ({ _id: i, ...body }));
          const engine = buildEngine();
          for (const name of await fill(engine, documents, random)) {
            let model = documents;
            for (const { filter, changes } of actions)
              model = changes
                ? await updateBoth(engine, name, model, filter, changes)
                : await deleteBoth(engine, name, model, filter);
            const collection = engine.catalog.find('test', name);
            if (!collection) throw new Error('no collection');
            expect(indexFaults(engine, collection)).to.deep.equal([]);
          }
          await engine.close();
        },
      ),
      RUNS,
    ));
});

/** What an update gives, or undefined where MongoDB refuses it. */
function orRefused(run: () => Doc): Doc | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof UpdateRefused) return undefined;
    throw error;
  }
}

function expectSame(values: Value[], expected: Value[], label: string): void {
  const ordered = (list: Value[]) => [...list].sort(compare);
  expect(compare(ordered(values), ordered(expected)), `${label}: ${JSON.stringify(values)}`).to.equal(0);
}

/** Deletes what matches on both sides; returns the model's documents after it. */
async function deleteBoth(engine: Engine, name: string, model: Doc[], filter: Doc): Promise<Doc[]> {
  const reply = await runCommand(engine, { delete: name, deletes: [{ q: filter, limit: 0 }] });
  const kept = model.filter((one) => !matches(one, filter));
  expect(reply.n).to.equal(model.length - kept.length);
  return kept;
}

/**
 * Updates what matches, document by document, on both sides; returns the model's documents after it. An index may
 * refuse what the update alone allows: an array in one of its fields (238).
 */
async function updateBoth(
  engine: Engine,
  name: string,
  model: Doc[],
  filter: Doc,
  changes: Doc,
): Promise<Doc[]> {
  const hit = model.filter((one) => matches(one, filter));
  const missed = model.length === hit.length ? undefined : model.find((one) => !hit.includes(one));
  const after = new Map(model.map((one) => [one._id, one]));
  for (const before of hit) {
    const q = { $and: [filter, { _id: before._id }] };
    const reply = await runCommand(engine, { update: name, updates: [{ q, u: changes }] });
    const [error] = (reply.writeErrors ?? []) as { code: number }[];
    const expected = error?.code === 238 ? undefined : orRefused(() => update(before, changes));
    expect(error !== undefined, `refused: ${JSON.stringify(changes)}`).to.equal(expected === undefined);
    const [stored] = await find(engine, name, { filter: { _id: before._id } });
    expect(
      compare(stored, expected ?? before),
      `${JSON.stringify(stored)} is not ${JSON.stringify(expected)}`,
    ).to.equal(0);
    after.set(before._id, expected ?? before);
  }
  if (missed) {
    const q = { $and: [filter, { _id: missed._id }] };
    expect(await runCommand(engine, { update: name, updates: [{ q, u: changes }] })).to.include({ n: 0 });
  }
  return model.map((one) => after.get(one._id) as Doc);
}
