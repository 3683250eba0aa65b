import { expect } from 'chai';
import { Batcher } from '../../../../domain/platform/async/batcher.js';
import { nextTurn } from '../../../support/eventually.js';

describe('Batcher', () => {
  let batches: number[][] = [];
  const batcher = new Batcher<number, number>(
    async (items) => {
      batches.push(items);
      await nextTurn();
      if (items.includes(13)) throw new Error('away');
      return items.map((item) => (item === 7 ? new Error('seven') : item * 10));
    },
    { size: 3, concurrency: 1 },
  );
  beforeEach(() => {
    batches = [];
  });

  it('runs the items of one turn together, in order, and answers each', async () => {
    expect(await Promise.all([1, 2, 3, 4].map((item) => batcher.add(item)))).to.deep.equal([10, 20, 30, 40]);
    expect(batches).to.deep.equal([[1, 2, 3], [4]]);
  });

  it('runs what is added during a batch as the next one', async () => {
    const first = batcher.add(1);
    await nextTurn();
    await Promise.all([first, batcher.add(2), batcher.add(3)]);
    expect(batches).to.deep.equal([[1], [2, 3]]);
  });

  it('fails one item by its error, and all by a rejection', async () => {
    const statusOf = async (items: number[]) =>
      (await Promise.allSettled(items.map((item) => batcher.add(item)))).map(({ status }) => status);
    expect(await statusOf([6, 7, 8])).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await statusOf([12, 13])).to.deep.equal(['rejected', 'rejected']);
    expect(await statusOf([14])).to.deep.equal(['fulfilled']);
  });

  it('runs retried items first, and resolves the others of their batch without them', async () => {
    const runs: number[][] = [];
    const retrying: Batcher<number, string> = new Batcher(
      async (items) => {
        runs.push(items);
        await nextTurn();
        if (runs.length > 1) return items.map(String);
        const retried = retrying.addFirst([1, 2]);
        return items.map((item, i) => retried[i] ?? String(item));
      },
      { size: 3, concurrency: 1 },
    );
    const answered: string[] = [];
    for (const item of [1, 2, 3, 4, 5]) void retrying.add(item).then((answer) => answered.push(answer));
    await retrying.idle();
    await nextTurn();
    expect(runs).to.deep.equal([[1, 2, 3], [1, 2, 4], [5]]);
    expect(answered[0]).to.equal('3');
    expect(answered.toSorted()).to.deep.equal(['1', '2', '3', '4', '5']);
  });

  it('is idle when nothing waits or runs', async () => {
    await batcher.idle();
    let added = 0;
    for (const item of [1, 2, 3, 4]) void batcher.add(item).then(() => (added += 1));
    await batcher.idle();
    expect(added).to.equal(4);
    expect(batches).to.deep.equal([[1, 2, 3], [4]]);
  });
});
