import { expect } from 'chai';
import { createGroupedReads } from '../../../../domain/platform/async/grouped-reads.js';
import { nextTurn } from '../../../support/eventually.js';

describe('Grouped reads', () => {
  let groups: number[][] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const read = createGroupedReads(async (keys: number[]) => {
    groups.push(keys);
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    await nextTurn();
    inFlight -= 1;
    if (keys.includes(13)) throw new Error('away');
    return new Map(keys.filter((key) => key < 10_000).map((key) => [key, `record ${key}`]));
  });
  beforeEach(() => {
    groups = [];
    mostInFlight = 0;
  });

  it('read concurrently requested keys once and together', async () => {
    const found = await Promise.all([read(1), read(2), read(1), read(99_999)]);
    expect(found).to.deep.equal(['record 1', 'record 2', 'record 1', undefined]);
    expect(groups).to.deep.equal([[1, 2, 99_999]]);
  });

  it('never return what was read before the request', async () => {
    const first = read(1);
    await nextTurn();
    expect(groups).to.deep.equal([[1]]);
    await Promise.all([first, read(1)]);
    expect(groups).to.deep.equal([[1], [1]]);
  });

  it('limit the group, and serve everybody', async () => {
    const keys = Array.from({ length: 1_234 }, (_, i) => i + 100);
    expect(await Promise.all(keys.map(read))).to.deep.equal(keys.map((key) => `record ${key}`));
    expect(groups.map(({ length }) => length)).to.deep.equal([500, 500, 234]);
    expect(groups.flat(), 'those that have waited longest go first').to.deep.equal(keys);
    expect(mostInFlight).to.equal(2);
  });

  it('fail all of a group, and continue', async () => {
    const failed = await Promise.allSettled([read(13), read(14)]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await read(15)).to.equal('record 15');
  });
});
