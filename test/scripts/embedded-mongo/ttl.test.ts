import { expect } from 'chai';
import type { Document } from '../../../scripts/embedded-mongo/bson-types.js';
import { identRange } from '../../../scripts/embedded-mongo/collection.js';
import type { Engine } from '../../../scripts/embedded-mongo/engine.js';
import { MemoryStorage } from '../../../scripts/embedded-mongo/storage.memory.js';
import { removeExpired } from '../../../scripts/embedded-mongo/ttl.js';
import { indexFaults } from './index-check.js';
import { buildEngine, find, runCommand } from './run-command.js';

/** Documents 0 to 9 are over at this moment (epoch ms), 10 to 19 are not. */
const NOW = 1_000_000;

describe('embedded database: expiry', () => {
  let engine: Engine;
  beforeEach(() => {
    engine = buildEngine(new MemoryStorage());
  });
  afterEach(() => engine.cursors.close());

  /** A collection of twenty, with a TTL index of 10 s over what meets the condition. */
  async function fill(name: string, partialFilterExpression?: Document): Promise<void> {
    await runCommand(engine, {
      insert: name,
      documents: Array.from({ length: 20 }, (_, i) => ({
        _id: i,
        at: new Date(NOW - 10_000 + (i < 10 ? -1 - i : i)),
        n: i % 4,
        ...(i % 2 ? { s: 'odd' } : {}),
        list: [i % 2, 'x'],
      })),
    });
    const condition = partialFilterExpression ? { partialFilterExpression } : {};
    const index = { key: { at: 1 }, name: 'at', expireAfterSeconds: 10, ...condition };
    await runCommand(engine, { createIndexes: name, indexes: [index] });
  }

  const idsLeft = async (name: string) => (await find(engine, name, {})).map(({ _id }) => Number(_id));

  for (const condition of [
    { $or: [{ n: 1 }, { s: 'odd' }] },
    { s: null },
    { n: { $in: [0, 1] } },
    { n: { $gt: 1 }, s: { $exists: true } },
    { $and: [{ n: { $gte: 0 } }, { $or: [{ n: { $lt: 2 } }, { s: null }] }] },
    { s: { $type: 'string' } },
    { list: 1 },
  ] as Document[])
    it(`removes what meets ${JSON.stringify(condition)}, and nothing else`, async () => {
      await fill('c', condition);
      const meeting = (await find(engine, 'c', { filter: condition })).map(({ _id }) => Number(_id));
      expect(meeting).to.have.lengthOf.above(0);
      const removed = await removeExpired(engine, NOW, expect.fail);
      const left = Array.from({ length: 20 }, (_, i) => i).filter((i) => i >= 10 || !meeting.includes(i));
      expect(await idsLeft('c')).to.deep.equal(left);
      expect(removed).to.equal(20 - left.length);
      const collection = engine.catalog.find('test', 'c');
      expect(collection && indexFaults(engine, collection)).to.deep.equal([]);
    });

  it('an index that fails is reported and does not stop the others', async () => {
    await fill('a');
    await fill('b');
    const broken = engine.catalog.find('test', 'a');
    if (!broken) throw new Error('no collection');
    const [first] = engine.storage.entries(identRange(broken.ident), 1);
    await engine.storage.write((writer) => writer.put(first?.key ?? Buffer.of(0), Buffer.of(1)));
    const lines: string[] = [];
    expect(await removeExpired(engine, NOW, (line) => lines.push(line))).to.equal(10);
    expect(await idsLeft('b')).to.deep.equal([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.match(/^TTL index at of test\.a removes nothing: .+/);
  });

  it('leaves a collection alone that was loaded again after a failed commit, until the next turn', async () => {
    const names = Array.from({ length: 1500 }, (_, _id) => ({ _id, at: new Date(0), n: _id }));
    await runCommand(engine, { insert: 'c', documents: names });
    await runCommand(engine, {
      createIndexes: 'c',
      indexes: [{ key: { at: 1 }, name: 'at', expireAfterSeconds: 10 }],
    });
    const { storage } = engine;
    const write = storage.write.bind(storage);
    let jobs = 0;
    // After the first thousand a commit fails; then somebody builds an index.
    storage.write = async (job) => {
      if (++jobs === 2) {
        storage.onRollback();
        await runCommand(engine, { createIndexes: 'c', indexes: [{ key: { n: 1 }, name: 'n' }] });
      }
      return write(job);
    };
    expect(await removeExpired(engine, NOW, expect.fail)).to.equal(1000);
    expect(await removeExpired(engine, NOW, expect.fail)).to.equal(500);
    const collection = engine.catalog.find('test', 'c');
    expect(collection && indexFaults(engine, collection)).to.deep.equal([]);
  });
});
