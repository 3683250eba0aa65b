import { expect } from 'chai';
import { coalesce, singleFlight } from '../../../domain/platform/single-flight.js';
import { gate } from '../../support/eventually.js';

describe('coalesced runs', () => {
  it('give calls during a run the shared result of the next run', async () => {
    const gates = [gate(), gate()];
    let runs = 0;
    const join = coalesce(async (_: string) => {
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
    const join = coalesce(async (key: string) => {
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
    const join = coalesce(async (_: string) => {
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

describe('single flight', () => {
  it('shares the run under way, and starts another after it', async () => {
    const held = gate();
    let runs = 0;
    const run = singleFlight(async () => {
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
