import { expect } from 'chai';
import { coalesce, createRecount } from '../../../domain/community/recount.js';

/** A promise that the test settles, to hold work at a chosen point. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('coalescing', () => {
  it('gives callers who come during a run the result of the next run, shared', async () => {
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

  it('keeps keys apart', async () => {
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

  it('lets those who wait have their own attempt when a run fails', async () => {
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

describe('recount', () => {
  it('counts again when another process has stored a count in the meantime', async () => {
    const stored = { version: 7, count: 0 };
    let records = 1;
    let counts = 0;
    const recount = createRecount({
      readVersion: async () => stored.version,
      count: async () => {
        counts += 1;
        const seen = records;
        if (counts === 1) {
          // The other process: a record more, and its own recount of it.
          records = 2;
          Object.assign(stored, { version: stored.version + 1, count: records });
        }
        return seen;
      },
      store: async (_, version, count) => {
        if (stored.version !== version) return false;
        Object.assign(stored, { version: version + 1, count });
        return true;
      },
    });
    expect(await recount(1)).to.equal(2);
    expect(stored).to.deep.equal({ version: 9, count: 2 });
  });

  it('moves the version even when the count is the same, so that an older count cannot follow', async () => {
    const stored = { version: 0, count: 5 };
    const recount = createRecount({
      readVersion: async () => stored.version,
      count: async () => 5,
      store: async (_, version, count) => {
        Object.assign(stored, { version: version + 1, count });
        return true;
      },
    });
    await recount(1);
    expect(stored).to.deep.equal({ version: 1, count: 5 });
  });

  it('answers undefined, and stores nothing, for what is not there', async () => {
    const recount = createRecount({
      readVersion: async () => undefined,
      count: () => Promise.reject(new Error('counted')),
      store: () => Promise.reject(new Error('stored')),
    });
    expect(await recount(1)).to.equal(undefined);
  });
});
