import { expect } from 'chai';
import { createTurns } from '../../../domain/platform/turns.js';

describe('turns', () => {
  it('run few tasks at once, let few wait in order, and refuse the others', async () => {
    let refusals = 0;
    const turns = createTurns(2, 2, () => {
      refusals += 1;
    });
    const order: number[] = [];
    const ends: (() => void)[] = [];
    const run = (no: number) =>
      turns(async () => {
        order.push(no);
        await new Promise<void>((resolve) => ends.push(resolve));
        return no;
      });
    const tasks = [run(1), run(2), run(3), run(4)];
    const refused = await run(5).catch((error) => error);
    expect(refused).to.include({ code: 'RATE_LIMITED', retryAfterMs: 1_000 });
    expect(order).to.deep.equal([1, 2]);
    expect([refusals, turns.waiting()]).to.deep.equal([1, 2]);
    ends[1]?.();
    expect(await tasks[1]).to.equal(2);
    expect(order).to.deep.equal([1, 2, 3]);
    const next = run(6);
    for (let i = 0; i < 5; i += 1) {
      ends[i]?.();
      ends[0]?.();
      await new Promise(setImmediate);
    }
    expect(await Promise.all([...tasks, next])).to.deep.equal([1, 2, 3, 4, 6]);
    expect(order).to.deep.equal([1, 2, 3, 4, 6]);
  });

  it('are given back by a task that fails', async () => {
    const turns = createTurns(1, 0);
    for (let i = 0; i < 3; i += 1) {
      const failed = await turns(async () => {
        throw new Error('a task fails');
      }).catch((error) => error.message);
      expect(failed).to.equal('a task fails');
    }
    expect(await turns(async () => 1)).to.equal(1);
  });
});
