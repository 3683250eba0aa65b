import { mock } from 'node:test';
import { expect } from 'chai';
import {
  cachedFor,
  joinNext,
  joinRunning,
  joinRunningOf,
} from '../../../../domain/platform/async/shared-runs.js';
import { gate } from '../../../support/eventually.js';

describe('calls that join the next run', () => {
  it('share its result if they come during a run', async () => {
    const gates = [gate(), gate()];
    let runs = 0;
    const join = joinNext(async (_: string) => {
      const run = runs++;
      await gates[run]?.opened;
      return run;
    });
    const first = join('a');
    const waiting = [join('a'), join('a'), join('a')];
    expect(runs).to.equal(1);
    for (const { open } of gates) open();
    expect(await first).to.equal(0);
    expect(await Promise.all(waiting)).to.deep.equal([1, 1, 1]);
    expect(runs).to.equal(2);
    expect(await join('a')).to.equal(2);
  });

  it('keep keys apart', async () => {
    const held = gate();
    const join = joinNext(async (key: string) => {
      if (key === 'a') await held.opened;
      return key;
    });
    const slow = join('a');
    expect(await join('b')).to.equal('b');
    held.open();
    expect(await slow).to.equal('a');
  });

  it('start the next run even if the current one fails', async () => {
    const held = gate();
    let runs = 0;
    const join = joinNext(async (_: string) => {
      runs += 1;
      if (runs > 1) return runs;
      await held.opened;
      throw new Error('database away');
    });
    const first = join('a').then(
      () => 'done',
      (error: Error) => error.message,
    );
    const second = join('a');
    held.open();
    expect(await first).to.equal('database away');
    expect(await second).to.equal(2);
  });
});

describe('calls that join the running one', () => {
  it('share its result per key, and go on in the order of the calls', async () => {
    const held = gate();
    const runs: string[] = [];
    const run = joinRunningOf(async (key: string) => {
      runs.push(key);
      if (key === 'a') await held.opened;
      return key;
    });
    const order: number[] = [];
    const calls = [1, 2, 3].map((no) => run('a').then(() => order.push(no)));
    expect(await run('b')).to.equal('b');
    held.open();
    await Promise.all(calls);
    expect(order).to.deep.equal([1, 2, 3]);
    await run('a');
    expect(runs).to.deep.equal(['a', 'b', 'a']);
  });

  it('share its result, and start another after it', async () => {
    const held = gate();
    let runs = 0;
    const run = joinRunning(async () => {
      runs += 1;
      await held.opened;
      if (runs === 2) throw new Error('database away');
      return runs;
    });
    const calls = [run(), run()];
    held.open();
    expect(await Promise.all(calls)).to.deep.equal([1, 1]);
    expect(await run().catch((error: Error) => error.message)).to.equal('database away');
    expect(await run()).to.equal(3);
  });
});

describe('cached runs', () => {
  let now = 1_000;
  beforeEach(() => {
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.restoreAll());

  it('share their outcome while they last, and for as long after as was said', async () => {
    const held = gate();
    let runs = 0;
    const ask = cachedFor(1_000, async () => {
      runs += 1;
      await held.opened;
      return runs;
    });
    const first = ask();
    now += 5_000;
    const second = ask();
    held.open();
    expect(await Promise.all([first, second])).to.deep.equal([1, 1]);
    now += 999;
    expect(await ask()).to.equal(1);
    now += 1;
    expect(await ask()).to.equal(2);
  });

  it('share a failure, too', async () => {
    let runs = 0;
    const ask = cachedFor(1_000, async () => {
      runs += 1;
      throw new Error(`failure ${runs}`);
    });
    const outcome = () => ask().catch((error: Error) => error.message);
    expect([await outcome(), await outcome()]).to.deep.equal(['failure 1', 'failure 1']);
    now += 1_000;
    expect(await outcome()).to.equal('failure 2');
  });
});
