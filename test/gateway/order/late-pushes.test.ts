import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { counted } from '../../support/counted.js';
import { enteredRoom, settled } from './sequenced-room.js';

describe('the count of lost messages', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  // Not `restoreAll`: it keeps the mocks, and a later call would bring the mocked timers back.
  afterEach(() => mock.reset());

  /** Two messages are found by a comparison, `ms` ms after somebody entered, and the second one's push comes later. */
  async function lostAfter(ms: number): Promise<number> {
    const room = await enteredRoom();
    const now = performance.now() + ms;
    mock.method(performance, 'now', () => now);
    const before = await counted(metrics.lostPushes, { what: 'message' });
    room.store();
    const second = room.store();
    await room.compare();
    await settled();
    expect(room.shown).to.deep.equal([1, 2]);
    room.push(second);
    for (let i = 0; i < 60; i += 1) mock.timers.tick(1_000);
    return (await counted(metrics.lostPushes, { what: 'message' })) - before;
  }

  it('holds those whose push never comes, and not those whose push is late', async () => {
    expect(await lostAfter(11_000)).to.equal(1);
  });

  it('holds none that may have been pushed before this process heard of the room', async () => {
    expect(await lostAfter(9_000)).to.equal(0);
  });
});
