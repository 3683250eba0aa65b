import { expect } from 'chai';
import { SerialQueue } from '../../../../domain/platform/async/serial-queue.js';
import { nextTurn } from '../../../support/eventually.js';

describe('SerialQueue', () => {
  it('runs one task at a time, in order, also after one that failed', async () => {
    const queue = new SerialQueue();
    const steps: string[] = [];
    const task =
      (name: string, fails = false) =>
      async () => {
        steps.push(`${name} starts`);
        await nextTurn();
        steps.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const outcomes = await Promise.allSettled([queue.add(task('a', true)), queue.add(task('b'))]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
    expect(steps).to.deep.equal(['a starts', 'a ends', 'b starts', 'b ends']);
    expect(await queue.add(task('c'))).to.equal('c');
  });
});
