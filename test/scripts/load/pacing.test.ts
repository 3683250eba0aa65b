import { expect } from 'chai';
import { forEachConcurrently } from '../../../scripts/load/pacing.js';
import { gate, nextTurn } from '../../support/eventually.js';

describe('items handled several at a time', () => {
  it('are all handled, no more than that at once', async () => {
    const handled: number[] = [];
    let [now, most] = [0, 0];
    await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
      now += 1;
      most = Math.max(most, now);
      await nextTurn();
      now -= 1;
      handled.push(item);
    });
    expect(handled).to.have.members([1, 2, 3, 4, 5]);
    expect(most).to.equal(2);
  });

  // Rooms were opened on, while the records of a failed run were removed.
  it('end before a failure is reported, and no other one begins', async () => {
    const [begun, ended]: number[][] = [[], []];
    const { open, opened } = gate();
    let failure: unknown;
    const handle = async (item: number) => {
      begun?.push(item);
      if (item === 1) throw new Error('the first one failed');
      await opened;
      ended?.push(item);
    };
    const done = forEachConcurrently([1, 2, 3, 4], 2, handle).catch((error) => {
      failure = error;
    });
    await nextTurn(2);
    expect(failure, 'while another one is under way').to.equal(undefined);
    open();
    await done;
    expect(failure).to.be.an('error').with.property('message', 'the first one failed');
    expect({ begun, ended }).to.deep.equal({ begun: [1, 2], ended: [2] });
  });
});
