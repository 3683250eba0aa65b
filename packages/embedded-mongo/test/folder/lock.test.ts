import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { holdOwner, type Lock, takeFolder } from '../../src/folder/lock.js';
import { nextTurn } from '../support/eventually.js';
import { useFolder } from '../support/folder.js';

describe('embedded database: who uses a folder', () => {
  let folder: string;
  useFolder((made) => {
    folder = made;
  });
  const locks: Lock[] = [];

  const take = async () => {
    const lock = await takeFolder(folder);
    locks.push(lock);
    return lock;
  };
  /** Resolves when the owner is told of the next one who leaves. */
  const nextLeave = (lock: Lock) =>
    new Promise<void>((resolve) => {
      lock.onLeave = resolve;
    });

  afterEach(async () => {
    for (const lock of locks.splice(0)) lock.release();
  });

  it('nobody where there was no owner, or the last one is gone', async () => {
    expect(await holdOwner(folder)).to.equal(undefined);
    const lock = await take();
    lock.publish();
    lock.release();
    expect(await holdOwner(folder)).to.equal(undefined);
  });

  it('each who holds it, until they let go', async () => {
    const lock = await take();
    lock.publish();
    expect(lock.holders()).to.equal(0);
    const [first, second] = [await holdOwner(folder), await holdOwner(folder)];
    expect([first?.pid, second?.pid, lock.holders()]).to.deep.equal([process.pid, process.pid, 2]);
    await first?.release();
    expect(lock.holders()).to.equal(1);
    await second?.release();
    expect(lock.holders()).to.equal(0);
  });

  it('lets one go when the owner has taken note of it', async () => {
    const lock = await take();
    lock.publish();
    const hold = await holdOwner(folder);
    lock.onLeave = () => lock.withdraw();
    await hold?.release();
    // An owner that stops by then is joined by nobody.
    const late = holdOwner(folder);
    while (lock.holders() === 0) await new Promise((resolve) => setImmediate(resolve));
    lock.release();
    expect(await late).to.equal(undefined);
  });

  it('tells its holders when the owner is gone', async () => {
    const lock = await take();
    lock.publish();
    const hold = await holdOwner(folder);
    const left = nextLeave(lock);
    lock.release();
    await hold?.lost;
    await left;
    expect(lock.holders()).to.equal(0);
  });

  it('makes those who come early wait until it is served', async () => {
    const lock = await take();
    let served = false;
    const early = holdOwner(folder).then((hold) => {
      expect(served).to.equal(true);
      return hold;
    });
    while (lock.holders() === 0) await nextTurn();
    served = true;
    lock.publish();
    expect(await early).to.include({ pid: process.pid });
  });

  it('tells nobody that it is served once its owner has withdrawn, and is free when it has released it', async () => {
    const lock = await take();
    lock.publish();
    lock.withdraw();
    const next = takeFolder(folder);
    while (lock.holders() === 0) await nextTurn();
    lock.release();
    locks.push(await next);
    expect(await readdir(folder)).to.deep.equal(['owner.2']);
  });

  it('is owned by the highest number, and of earlier owners nothing stays', async () => {
    for (const name of ['owner.2', 'owner.9', 'owner.10', 'owner.x', 'data.mdb'])
      await writeFile(join(folder, name), '');
    await take();
    expect((await readdir(folder)).sort()).to.deep.equal(['data.mdb', 'owner.11', 'owner.x']);
  });
});
