import { expect } from 'chai';
import { NotedIds } from '../../../domain/notifications/noted-ids.js';

describe('marks of notifications', () => {
  it('are kept for each id, several besides each other', () => {
    const noted = new NotedIds(1_024);
    expect(noted.has(511, 1)).to.equal(false);
    noted.add(511, 1);
    noted.add(511, 4);
    noted.add(512, 2);
    const marksOf = (id: number) => [1, 2, 4, 1 | 2].map((marks) => noted.has(id, marks));
    expect([510, 511, 512, 1_023].map(marksOf)).to.deep.equal([
      [false, false, false, false],
      [true, false, true, true],
      [false, true, false, true],
      [false, false, false, false],
    ]);
  });

  it('are forgotten of those not used for the longest time, in pages', () => {
    const noted = new NotedIds(1_024);
    for (const id of [100, 600, 2 ** 40]) noted.add(id, 1);
    expect([100, 600, 2 ** 40].map((id) => noted.has(id, 1))).to.deep.equal([false, true, true]);
  });
});
