import { expect } from 'chai';
import { PresenceInterruptions } from '../../../domain/chat/presence-interruptions.js';
import type { RedisConnection } from '../../../domain/platform/redis/connection.js';
import { eventually, sleep } from '../../support/eventually.js';

/** A Redis that has lost nothing. */
const redis = {
  on: () => () => {},
  listen: () => () => {},
  subscriber: () => ({ subscribe: async () => {}, unsubscribe: async () => {} }),
  ask: async () => undefined,
  noteLoss() {},
} as unknown as RedisConnection;

describe('presence while Redis evicts keys all the time', () => {
  it('is refreshed at most a tenth of the time, and once more for the last eviction', async () => {
    const refreshes: { from: number; to: number }[] = [];
    const refresh = async () => {
      const from = performance.now();
      await sleep(20);
      refreshes.push({ from, to: performance.now() });
    };
    const times = { grace: 120_000, lookEvery: 120_000 };
    const interruptions = new PresenceInterruptions(redis, times, refresh, () => {});
    for (let evictions = 0; evictions < 100; evictions += 1) interruptions.noteEviction();
    await eventually(() => expect(refreshes).to.have.lengthOf(2));
    interruptions.close();
    const [first, second] = refreshes as [{ from: number; to: number }, { from: number; to: number }];
    // A timer may be a millisecond early.
    expect(second.from - first.to).to.be.above(9 * (first.to - first.from) - 2);
  });
});
