import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { forEachConcurrently } from '../../../scripts/load/pacing.js';

describe('items handled several at a time', () => {
  it('are all handled, no more than that at once', async () => {
    const handled: number[] = [];
    let [now, most] = [0, 0];
    await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await sleep(1);
      now -= 1;
      handled.push(item);
    });
    expect(handled).to.have.members([1, 2, 3, 4, 5]);
    expect(most).to.equal(2);
  });

  // Rooms were opened on, while the records of a failed run were removed.
  it('end before a failure is reported, and no other one begins', async () => {
    const [begun, ended]: number[][] = [[], []];
    const handle = async (item: number) => {
      begun?.push(item);
      if (item === 1) throw new Error('the first one failed');
      await sleep(5);
      ended?.push(item);
    };
    const failure = await forEachConcurrently([1, 2, 3, 4], 2, handle).catch((error) => error);
    expect(failure).to.be.an('error').with.property('message', 'the first one failed');
    expect({ begun, ended }).to.deep.equal({ begun: [1, 2], ended: [2] });
  });
});
