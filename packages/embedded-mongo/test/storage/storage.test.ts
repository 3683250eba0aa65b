import { expect } from 'chai';
import fc from 'fast-check';
import type { KeyRange, Storage } from '../../src/storage/storage.js';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { MemoryStorage } from '../../src/storage/storage.memory.js';
import { badValue } from '../../src/values/errors.js';
import { nextTurn } from '../support/eventually.js';
import { useFolder } from '../support/folder.js';
import { indexFaults } from '../support/index-check.js';
import { buildEngine, find, runCommand } from '../support/run-command.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

const implementations: [name: string, create: (folder: string) => Storage][] = [
  ['lmdb', (folder) => new LmdbStorage(folder)],
  ['memory', () => new MemoryStorage()],
];

/** What every storage owes the database; run on each implementation. */
for (const [name, create] of implementations)
  describe(`embedded database: storage contract, ${name}`, () => {
    let folder: string;
    useFolder((made) => {
      folder = made;
    });
    let storage: Storage;

    beforeEach(async () => {
      storage = create(folder);
    });
    afterEach(async () => {
      await storage.close();
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

    it('gives the same of many entries, put in any order and partly removed', async () => {
      const all = Array.from({ length: 1500 }, (_, i) => String(1000 + ((i * 733) % 1500)));
      await storage.write((writer) => {
        for (const key of all) writer.put(bytes(key), bytes(key));
      });
      const expectSame = (names: string[]) => {
        for (const [start, end] of [
          ['1000', '3'],
          ['1255', '1257'],
          ['1100', '2300'],
          ['12', '13'],
          ['0', '1000'],
        ] as const) {
          const inside = names.filter((name) => name >= start && name < end);
          expect(storage.count(bytes(start), bytes(end)), `from ${start} to ${end}`).to.equal(inside.length);
          for (const limit of [1, 300, 2000]) {
            const range = { start: bytes(start), end: bytes(end) };
            expect(keys(range, limit)).to.deep.equal(inside.slice(0, limit));
            expect(keys({ ...range, reverse: true }, limit)).to.deep.equal(
              [...inside].reverse().slice(0, limit),
            );
          }
        }
      };
      const ordered = [...all].sort();
      expectSame(ordered);
      const isKept = (name: string) => Number(name) % 3 === 0 || name > '2400';
      await storage.write((writer) => {
        for (const key of all.filter((name) => !isKept(name))) writer.remove(bytes(key));
      });
      expectSame(ordered.filter(isKept));
      expect(storage.get(bytes('1200'))?.toString()).to.equal('1200');
      expect(storage.get(bytes('1201'))).to.equal(undefined);
    });

    it('keeps a value of its own: the buffer it came in may be used again', async () => {
      const value = bytes('first');
      await storage.write((writer) => writer.put(bytes('a'), value));
      value.fill(0);
      expect(storage.get(bytes('a'))?.toString()).to.equal('first');
    });

    it('raises its generation with every commit, so that readers notice', async () => {
      const before = storage.generation;
      await storage.write((writer) => writer.put(bytes('a'), bytes('1')));
      const between = storage.generation;
      expect(between).to.be.above(before);
      await storage.write((writer) => writer.remove(bytes('a')));
      expect(storage.generation).to.be.above(between);
    });

    it('shows a commit from the moment it is told, whatever was read before', async () => {
      for (let i = 0; i < 20; i++) {
        let seen: string | undefined;
        const written = storage.write((writer) => writer.put(bytes('a'), bytes(String(i))));
        const told = written.then(() => {
          seen = storage.get(bytes('a'))?.toString();
        });
        // Reads in each turn, so that an older read is open when the commit comes.
        for (; seen === undefined; await nextTurn()) storage.get(bytes('a'));
        await told;
        expect(seen).to.equal(String(i));
      }
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

    it('a job that refuses its request fails alone', async () => {
      const results = await Promise.allSettled([
        storage.write((writer) => writer.put(bytes('a'), bytes('1'))),
        storage.write(() => {
          throw badValue('refused');
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
            // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: model and storage side by side
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

    it('carries a database through updates, index builds, removals, a restart and drops', async () => {
      let engine = buildEngine(storage);
      await runCommand(engine, {
        insert: 'c',
        documents: Array.from({ length: 2500 }, (_, i) => ({ _id: i, n: i % 7, at: new Date(i * 1000) })),
      });
      await runCommand(engine, {
        createIndexes: 'c',
        indexes: [
          { key: { n: 1, _id: -1 }, name: 'n' },
          { key: { at: 1 }, name: 'at' },
        ],
      });
      await runCommand(engine, {
        update: 'c',
        updates: [{ q: { n: 3 }, u: { $set: { n: 12 } }, multi: true }],
      });
      await runCommand(engine, { delete: 'c', deletes: [{ q: { n: 2, _id: { $lt: 100 } }, limit: 0 }] });
      const collection = engine.catalog.find('test', 'c');
      if (!collection) throw new Error('no collection');
      expect(indexFaults(engine, collection)).to.deep.equal([]);
      await runCommand(engine, { create: 'empty' });
      await runCommand(engine, { create: 'other' });
      engine.cursors.close();
      engine = buildEngine(storage);
      const documents = (name: string) => find(engine, name, { sort: { _id: 1 } });
      const before = await documents('c');
      await runCommand(engine, { insert: 'empty', documents: [{ _id: 1 }] });
      await runCommand(engine, { insert: 'c', documents: [{ _id: 9000 }] });
      await runCommand(engine, { insert: 'new', documents: [{ _id: 2 }] });
      await runCommand(engine, { createIndexes: 'new', indexes: [{ key: { a: 1 }, name: 'a' }] });
      expect(await documents('c')).to.deep.equal([...before, { _id: 9000 }]);
      expect(await documents('empty')).to.deep.equal([{ _id: 1 }]);
      expect(await documents('other')).to.deep.equal([]);
      expect(await documents('new')).to.deep.equal([{ _id: 2 }]);
      for (const collection of engine.catalog.all())
        expect(indexFaults(engine, collection), collection.name).to.deep.equal([]);
      for (const name of ['c', 'empty', 'other', 'new']) await runCommand(engine, { drop: name });
      expect(storage.count(Buffer.from([0, 0, 0, 1]), Buffer.alloc(9, 255))).to.equal(0);
      engine.cursors.close();
    });
  });
