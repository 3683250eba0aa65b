import { expect } from 'chai';
import { open } from 'lmdb';
import { LmdbStorage } from '../../src/storage/storage.lmdb.js';
import { StorageFailure } from '../../src/values/errors.js';
import { useFolder } from '../support/folder.js';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('embedded database: a store that fails', () => {
  let folder: string;
  useFolder((made) => {
    folder = made;
  });
  let storage: LmdbStorage;
  /** What lmdb-js does with a put, which a test may replace. */
  let database: { put: unknown; childTransaction: unknown; close: unknown };

  beforeEach(async () => {
    storage = new LmdbStorage(folder, (options) => {
      const opened = open<Buffer, Buffer>(options);
      database = opened;
      return opened;
    });
  });

  const put = (key: string) => storage.write((writer) => writer.put(bytes(key), bytes('1')));
  const held = () =>
    ['a', 'b', 'c', 'd', 'e'].filter((key) => storage.get(bytes(key)) !== undefined).join('');

  const failures: [title: string, refuse: () => unknown][] = [
    ['is not taken', () => Object.assign(Promise.resolve(false), { result: false })],
    [
      'throws',
      () => {
        throw new Error('no more room');
      },
    ],
  ];
  for (const [title, refuse] of failures)
    it(`keeps nothing of a commit in which one put ${title}, and tells everybody`, async () => {
      await put('a');
      const generation = storage.generation;
      const order: string[] = [];
      storage.onRollback = () => order.push('rollback');
      const works = database.put as (key: Buffer, value: Uint8Array) => unknown;
      database.put = (key: Buffer, value: Uint8Array) =>
        key.toString() === 'c' ? refuse() : works.call(database, key, value);
      const results = await Promise.allSettled([
        storage.write((writer) => {
          writer.put(bytes('b'), bytes('1'));
          writer.remove(bytes('a'));
        }),
        put('c'),
        put('d'),
      ]);
      for (const result of results) {
        expect(result.status).to.equal('rejected');
        const { reason } = result as PromiseRejectedResult;
        expect(reason).to.be.instanceOf(StorageFailure);
        expect(reason.code).to.equal(1);
      }
      expect(held()).to.equal('a');
      expect(storage.generation).to.be.above(generation);
      database.put = works;
      await storage.write((writer) => {
        order.push('next job');
        writer.put(bytes('e'), bytes('1'));
      });
      expect(order).to.deep.equal(['rollback', 'next job']);
      expect(held()).to.equal('ae');
      await storage.close();
      storage = new LmdbStorage(folder);
      expect(held(), 'after a restart').to.equal('ae');
      await storage.close();
    });

  it('keeps nothing of a commit in which one job fails by a fault of this program', async () => {
    const results = await Promise.allSettled([
      put('a'),
      storage.write((writer) => {
        writer.put(bytes('b'), bytes('1'));
        throw new TypeError('a fault');
      }),
      put('c'),
    ]);
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    expect(held()).to.equal('');
    await put('d');
    expect(held()).to.equal('d');
    await storage.close();
  });

  it('rejects all who wait when no transaction can begin, and goes on with the next', async () => {
    const works = database.childTransaction;
    database.childTransaction = () => Promise.reject(Object.assign(new Error('no room'), { code: 28 }));
    const results = await Promise.allSettled([put('a'), put('b')]);
    expect(results.map((result) => (result as PromiseRejectedResult).reason?.code)).to.deep.equal([
      14031, 14031,
    ]);
    database.childTransaction = works;
    await put('c');
    expect(held()).to.equal('c');
    await storage.close();
  });

  it('tells a full disk from other failures by the code of the system or of LMDB', async () => {
    for (const [code, answer] of [
      ...[28, 27, 122, -30792, 30, 5].map((full) => [full, 14031] as const),
      ...[13, -30791, undefined].map((other) => [other, 1] as const),
    ]) {
      database.childTransaction = () => Promise.reject(Object.assign(new Error('failed'), { code }));
      expect((await put('a').catch((error) => error)).code, String(code)).to.equal(answer);
    }
  });

  it('tells the cause that lmdb-js hides, and does not wait for ever when it is closed then', async () => {
    const cause = Promise.reject(Object.assign(new Error('short write'), { code: 5 }));
    cause.catch(() => {});
    database.childTransaction = () =>
      Promise.reject(Object.assign(new Error('Commit failed'), { commitError: cause }));
    const failure = await put('a').catch((error) => error);
    expect(failure.code).to.equal(14031);
    expect(failure.message).to.contain('short write');
    database.close = () => new Promise(() => {});
    await storage.close();
  });
});
