import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { KeyRange, Storage } from '../../../scripts/embedded-mongo/storage.js';
import { LmdbStorage } from '../../../scripts/embedded-mongo/storage.lmdb.js';
import { MemoryStorage } from '../../../scripts/embedded-mongo/storage.memory.js';
import { removeExpired } from '../../../scripts/embedded-mongo/ttl.js';
import { indexFaults } from './index-check.js';
import { buildEngine, find, runCommand } from './run-command.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

const implementations: [name: string, open: (folder: string) => Storage][] = [
  ['lmdb', (folder) => new LmdbStorage(folder)],
  ['memory', () => new MemoryStorage()],
];

/** What every storage owes the database; run on each implementation. */
for (const [name, open] of implementations)
  describe(`embedded database: storage contract, ${name}`, () => {
    let folder: string;
    let storage: Storage;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'embedded-storage-'));
      storage = open(folder);
    });
    afterEach(async () => {
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    });

    const keys = (range: Partial<KeyRange>, limit = 1000) =>
      storage
        .entries({ start: bytes('\0'), end: bytes('\xff'), reverse: false, ...range }, limit)
        .map(({ key }) => key.toString('latin1'));

    it('reads what was put, also within the same job', async () => {
      const seen = await storage.write((writer) => {
        writer.put(bytes('a'), bytes('1'));
        writer.put(bytes('a'), bytes('2'));
        writer.put(bytes('b'), Buffer.alloc(0));
        writer.remove(bytes('c'));
        return [writer.get(bytes('a'))?.toString(), writer.count(bytes('a'), bytes('z'))];
      });
      expect(seen).to.deep.equal(['2', 2]);
      expect(storage.get(bytes('a'))?.toString()).to.equal('2');
      expect(storage.get(bytes('b'))).to.have.lengthOf(0);
      expect(storage.get(bytes('c'))).to.equal(undefined);
    });

    it('gives ranges from start to before end, in both directions, up to a limit', async () => {
      await storage.write((writer) => {
        for (const key of ['b', 'a', 'd', 'c', 'c\0', 'c\xff']) writer.put(bytes(key), bytes(key));
      });
      expect(keys({})).to.deep.equal(['a', 'b', 'c', 'c\0', 'c\xff', 'd']);
      expect(keys({ start: bytes('b'), end: bytes('d') })).to.deep.equal(['b', 'c', 'c\0', 'c\xff']);
      expect(keys({ start: bytes('b'), end: bytes('d'), reverse: true })).to.deep.equal([
        'c\xff',
        'c\0',
        'c',
        'b',
      ]);
      expect(keys({ start: bytes('bb'), end: bytes('dd'), reverse: true }, 2)).to.deep.equal(['d', 'c\xff']);
      expect(keys({ start: bytes('d'), end: bytes('b') })).to.deep.equal([]);
      expect(keys({ start: bytes('d'), end: bytes('b'), reverse: true })).to.deep.equal([]);
      expect(storage.count(bytes('b'), bytes('d'))).to.equal(4);
    });

    it('runs jobs one after another, each seeing those before', async () => {
      const counts = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          storage.write((writer) => {
            const n = writer.count(bytes('\0'), bytes('\xff'));
            writer.put(bytes(`k${i}`), bytes('x'));
            return n;
          }),
        ),
      );
      expect(counts).to.deep.equal(Array.from({ length: 100 }, (_, i) => i));
    });

    it('a job that throws fails alone', async () => {
      const results = await Promise.allSettled([
        storage.write((writer) => writer.put(bytes('a'), bytes('1'))),
        storage.write(() => {
          throw new Error('refused');
        }),
        storage.write((writer) => writer.put(bytes('b'), bytes('1'))),
      ]);
      expect(results.map((result) => result.status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(keys({})).to.deep.equal(['a', 'b']);
    });

    it('is the same ordered map as a naive one', async () => {
      const key = fc
        .uint8Array({ minLength: 1, maxLength: 3, max: 4 })
        .map((array) => Buffer.from(array.map((byte) => (byte === 4 ? 255 : byte))));
      const step = fc.tuple(fc.constantFrom('put', 'put', 'remove'), key);
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 60 }),
          key,
          key,
          fc.boolean(),
          fc.integer({ min: 1, max: 20 }),
          async (steps, start, end, reverse, limit) => {
            const model = new Map<string, Buffer>();
            await storage.write((writer) => {
              for (const entry of writer.entries(
                { start: Buffer.of(0), end: Buffer.alloc(9, 255), reverse: false },
                1e6,
              ))
                writer.remove(entry.key);
              for (const [action, key] of steps) {
                if (action === 'put') writer.put(Buffer.from(key), Buffer.from(key));
                else writer.remove(Buffer.from(key));
                if (action === 'put') model.set(key.toString('hex'), Buffer.from(key));
                else model.delete(key.toString('hex'));
              }
            });
            const inside = [...model.values()]
              .filter((key) => Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0)
              .sort(Buffer.compare);
            expect(storage.count(start, end)).to.equal(inside.length);
            const expected = (reverse ? inside.reverse() : inside).slice(0, limit);
            const found = storage.entries(
              { start: Buffer.from(start), end: Buffer.from(end), reverse },
              limit,
            );
            expect(found.map((entry) => entry.key.toString('hex'))).to.deep.equal(
              expected.map((key) => key.toString('hex')),
            );
            expect(found.map((entry) => Buffer.from(entry.value).toString('hex'))).to.deep.equal(
              expected.map((key) => key.toString('hex')),
            );
          },
        ),
        { numRuns: name === 'lmdb' ? 40 : 300, seed: Number(process.env.SEED ?? Date.now() % 2 ** 31) },
      );
    });

    it('carries a database through updates, index builds, expiry and drops', async () => {
      const engine = buildEngine(storage);
      await runCommand(engine, {
        insert: 'c',
        documents: Array.from({ length: 2500 }, (_, i) => ({ _id: i, n: i % 7, at: new Date(i * 1000) })),
      });
      await runCommand(engine, {
        createIndexes: 'c',
        indexes: [
          { key: { n: 1, _id: -1 }, name: 'n' },
          { key: { at: 1 }, name: 'at', expireAfterSeconds: 10 },
        ],
      });
      await runCommand(engine, {
        update: 'c',
        updates: [{ q: { n: 3 }, u: { $set: { n: [1, 2] } }, multi: true }],
      });
      await runCommand(engine, { delete: 'c', deletes: [{ q: { n: 2, _id: { $lt: 100 } }, limit: 0 }] });
      const collection = engine.catalog.find('test', 'c');
      if (!collection) throw new Error('no collection');
      expect(indexFaults(engine, collection)).to.deep.equal([]);
      // At second 1510 everything of second 1500 and before is over.
      const before = (await find(engine, 'c', { filter: { at: { $lte: new Date(1_500_000) } } })).length;
      expect(await removeExpired(engine, 1_510_000, expect.fail)).to.equal(before);
      expect(await find(engine, 'c', { filter: { at: { $lte: new Date(1_500_000) } } })).to.deep.equal([]);
      expect(indexFaults(engine, collection)).to.deep.equal([]);
      await runCommand(engine, { drop: 'c' });
      expect(storage.count(Buffer.from([0, 0, 0, 1]), Buffer.alloc(9, 255))).to.equal(0);
      engine.cursors.close();
    });
  });
