import { expect } from 'chai';
import { createRecount } from '../../../domain/community/recount.js';

describe('recount', () => {
  it('counts again if another process stored a count meanwhile', async () => {
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

  it('raises the version even if the count is the same, so that an older count cannot be stored', async () => {
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

  it('returns undefined, and stores nothing, for a missing record', async () => {
    const recount = createRecount({
      readVersion: async () => undefined,
      count: () => Promise.reject(new Error('counted')),
      store: () => Promise.reject(new Error('stored')),
    });
    expect(await recount(1)).to.equal(undefined);
  });
});
