import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Storage } from '../../src/storage/storage.js';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { MemoryStorage } from '../../src/storage/storage.memory.js';
import { buildEngine, count, find, runCommand } from '../support/run-command.js';

const storages: [name: string, open: (folder: string) => Storage][] = [
  ['memory', () => new MemoryStorage()],
  ['lmdb', (folder) => new LmdbStorage(folder)],
];

describe('embedded database: long values in queries', () => {
  for (const [name, open] of storages) {
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: nested loops over a table of cases
    it(`a bound longer than any key finds what a scan finds, ${name}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'embedded-planner-'));
      const fresh = buildEngine(open(folder));
      const texts = ['a', 'x'.repeat(1900), 'y'];
      const documents = texts.map((a, _id) => ({ _id, a, b: 1 }));
      const indexes = [{ a: 1 }, { a: -1 }, { b: 1, a: 1 }];
      for (const [i, key] of [undefined, ...indexes].entries()) {
        await runCommand(fresh, { insert: `c${i}`, documents });
        if (key) await runCommand(fresh, { createIndexes: `c${i}`, indexes: [{ key, name: 'i' }] });
      }
      for (const length of [1950, 1960, 1970, 1978, 2000, 100_000]) {
        const long = 'x'.repeat(length);
        for (const a of [
          ...[long, { $gt: long }, { $gte: long }, { $lt: long }, { $lte: long }, { $in: ['y', long] }],
          ...[{ $gt: long, $lt: `${long}x` }, { $ne: long }],
        ]) {
          const filter = { a, b: 1 };
          const scanned = await find(fresh, 'c0', { filter });
          for (const [i, key] of indexes.entries()) {
            const name = `c${i + 1}`;
            const label = `${JSON.stringify(a).slice(0, 40)} of ${length} by ${JSON.stringify(key)}`;
            expect(await find(fresh, name, { filter }), label).to.have.deep.members(scanned);
            expect(await count(fresh, name, filter), label).to.equal(scanned.length);
          }
        }
      }
      const update = { q: { a: 'x'.repeat(3000) }, u: { $set: { b: 2 } } };
      expect(await runCommand(fresh, { update: 'c1', updates: [update] })).to.include({ n: 0 });
      await fresh.close();
      await rm(folder, { recursive: true, force: true });
    });
  }

  for (const [name, open] of storages)
    it(`a key has at most 1,962 bytes, ${name}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'embedded-planner-'));
      const engine = buildEngine(open(folder));
      await runCommand(engine, { createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a' }] });
      // Beside the text: its type and an end of two bytes.
      const insert = (keyBytes: number) =>
        runCommand(engine, { insert: 'c', documents: [{ a: 'x'.repeat(keyBytes - 3) }] });
      expect(await insert(1962)).not.to.have.property('writeErrors');
      expect(await insert(1963)).to.have.nested.property('writeErrors[0].code', 17280);
      expect(await find(engine, 'c', { sort: { a: 1 } })).to.have.lengthOf(1);
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    });
});
