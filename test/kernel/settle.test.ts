import { expect } from 'chai';
import { settled } from '../../domain/kernel/settle.js';

describe('What disagrees at a first look', () => {
  it('is told where a second look finds the same, and not where a write was under way', async () => {
    const now = new Map([
      ['stays', '5, but 6'],
      ['moves on', '7, but 8'],
      ['ends', '1, but 2'],
    ]);
    const asked: string[][] = [];
    // The writes end well before the second look.
    setTimeout(() => {
      now.delete('ends');
      now.set('moves on', '8, but 9');
    }, 100);
    const standing = await settled(new Map(now), async (about) => {
      asked.push(about);
      return now;
    });
    expect([...standing]).to.deep.equal([['stays', '5, but 6']]);
    expect(asked).to.deep.equal([['stays', 'moves on', 'ends']]);
  });

  it('is not looked for again where there is nothing', async () => {
    const nothing = new Map<string, string>();
    expect(await settled(nothing, () => Promise.reject(new Error('looked')))).to.deep.equal(nothing);
  });
});
