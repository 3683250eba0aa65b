import { expect } from 'chai';
import { createTurns } from '../../../../domain/platform/async/turns.js';

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

  it('are given up by one whose caller has gone, in the queue or before', async () => {
    const turns = createTurns(1, 1);
    let end = () => {};
    const first = turns(() => new Promise<void>((resolve) => (end = resolve)));
    const gone = new AbortController();
    const ran: string[] = [];
    const waiting = turns(async () => ran.push('gone'), gone.signal).catch((error) => error);
    expect(turns.waiting()).to.equal(1);
    gone.abort(new Error('the caller has gone'));
    expect(await waiting).to.equal(gone.signal.reason);
    expect(turns.waiting()).to.equal(0);
    const [patient, early] = [new AbortController(), turns(async () => ran.push('early'), gone.signal)];
    expect(await early.catch((error) => error)).to.equal(gone.signal.reason);
    const next = turns(async () => ran.push('next'), patient.signal);
    end();
    await Promise.all([first, next]);
    // After its turn has come, its end is its own.
    patient.abort();
    expect([ran, turns.waiting()]).to.deep.equal([['next'], 0]);
    await turns(async () => ran.push('last'));
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
