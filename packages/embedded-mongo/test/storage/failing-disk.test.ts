import { cp, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { StorageFailure } from '../../src/values/errors.js';
import { divert } from '../support/failing-disk.js';
import { useFolder } from '../support/folder.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const ALL = { start: bytes('a'), end: bytes('z') };

describe('embedded database: a disk that fails while it is written', () => {
  let folder: string;
  useFolder((made) => {
    folder = made;
  });
  let storage: LmdbStorage;

  beforeEach(async () => {
    storage = new LmdbStorage(folder);
    for (const key of ['b', 'c', 'd']) await put(key);
    expect(held(storage)).to.equal('bcd');
  });

  const put = (key: string) => storage.write((writer) => writer.put(bytes(key), bytes('1')));
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error) => error,
    );
  const held = (of: LmdbStorage) =>
    of
      .entries({ ...ALL, reverse: false }, 10)
      .map(({ key }) => key.toString())
      .join('');

  for (const [title, to, message] of [
    ['pages cannot be written', '/dev/full', /^The disk of the embedded database is full: No space left/],
    ['pages cannot be flushed', '/dev/null', /^The embedded database cannot write: Invalid argument/],
  ] as const)
    it(`${title}: refuses writes, reads on, and writes again when it can`, async () => {
      let broken = 0;
      storage.onBroken = () => {
        broken++;
      };
      const restore = divert(folder, 'pages', to);
      for (const key of ['e', 'f', 'g']) {
        const failure = await failureOf(put(key));
        expect(failure).to.be.instanceOf(StorageFailure);
        expect(failure.message).to.match(message);
        expect(held(storage)).to.equal('bcd');
        expect(storage.get(bytes('b'))?.toString()).to.equal('1');
        expect(storage.count(ALL.start, ALL.end)).to.equal(3);
      }
      restore();
      await put('h');
      expect(held(storage)).to.equal('bcdh');
      expect(broken).to.equal(0);
      await storage.close();
      storage = new LmdbStorage(folder);
      expect(held(storage), 'after a restart').to.equal('bcdh');
      await storage.close();
    });

  for (const [to, message] of [
    ['/dev/full', 'The disk of the embedded database is full: No space left on device'],
    ['/proc/self/mem', 'The disk of the embedded database is full or failing: Input/output error'],
  ] as const)
    it(`a root page cannot be written: tells so, then refuses everything; never an empty answer (${to})`, async () => {
      const order: string[] = [];
      storage.onBroken = (failure) => order.push(failure.message);
      storage.onRollback = () => order.push('rollback');
      divert(folder, 'roots', to);
      const waiting: Promise<StorageFailure>[] = [];
      const first = storage.write((writer) => {
        writer.put(bytes('e'), bytes('1'));
        waiting.push(failureOf(put('f')));
      });
      const failures = [await failureOf(first), ...(await Promise.all(waiting)), await failureOf(put('g'))];
      expect(failures.map((failure) => failure?.message)).to.deep.equal([message, message, message]);
      expect(failures.every(({ code }) => code === 14031)).to.equal(true);
      expect(order).to.deep.equal([message]);
      for (let turn = 0; turn < 2; turn++)
        for (const read of [
          () => storage.entries({ ...ALL, reverse: false }, 10),
          () => storage.entries({ ...ALL, reverse: true }, 10),
          () => storage.get(bytes('b')),
          () => storage.count(ALL.start, ALL.end),
        ])
          expect(read).to.throw(StorageFailure, 'MDB_PANIC');
      await storage.close();
      // LMDB opens a folder once in a process.
      const copy = await mkdtemp(join(folder, 'copy-'));
      await cp(join(folder, 'data.mdb'), join(copy, 'data.mdb'));
      storage = new LmdbStorage(copy);
      expect(held(storage), 'after a restart').to.equal('bcd');
      await put('h');
      expect(held(storage)).to.equal('bcdh');
      await storage.close();
    });
});
