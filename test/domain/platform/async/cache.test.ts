import { expect } from 'chai';
import { createCache } from '../../../../domain/platform/async/cache.js';
import { nextTurn } from '../../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../../support/time.js';

describe('a cache', () => {
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(() => time.restore());

  it('drops the least recently used entry beyond its most', () => {
    const cache = createCache<number, string>(2);
    for (const key of [1, 2]) cache.set(key, 'held');
    cache.get(1);
    cache.set(3, 'held');
    expect([...cache.keys()].sort()).to.deep.equal([1, 3]);
    expect(time.pending, 'timers without a lifetime').to.equal(0);
  });

  it('holds nothing that has expired, though nobody asks for it, and then no timer', async () => {
    const cache = createCache<number, string>(100_000, 1_000);
    for (let key = 0; key < 1_000; key += 1) cache.set(key, 'held');
    await time.pass(900);
    expect(cache.size).to.equal(1_000);
    cache.set(1_000, 'later');
    await time.pass(350);
    expect([...cache.values()]).to.deep.equal(['later']);
    expect(cache.size).to.equal(1);
    await time.pass(1_000);
    expect(cache.size).to.equal(0);
    expect(time.pending).to.equal(0);
    cache.set(1, 'again');
    await time.pass(1_250);
    expect(cache.size).to.equal(0);
  });

  it('drops what expires together in many turns, so that others are served in between', async () => {
    const cache = createCache<number, string>(100_000, 1_000);
    for (let key = 0; key < 50_000; key += 1) cache.set(key, 'held');
    time.skip(1_250);
    // A few turns after the sweep has begun.
    await time.pass(1);
    expect(cache.size).to.be.within(1, 49_000);
    cache.set(0, 'again');
    await nextTurn(60);
    expect([...cache.entries()]).to.deep.equal([[0, 'again']]);
    expect(cache.size).to.equal(1);
  });

  it('counts the lifetime from the last use, where it is to', async () => {
    const caches = [createCache<number, string>(10, 1_000, 'use'), createCache<number, string>(10, 1_000)];
    for (const cache of caches) cache.set(1, 'held');
    await time.pass(800);
    for (const cache of caches) cache.get(1);
    await time.pass(800);
    expect(caches.map((cache) => cache.size)).to.deep.equal([1, 0]);
  });
});
