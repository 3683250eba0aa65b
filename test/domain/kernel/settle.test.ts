import { expect } from 'chai';
import { settled } from '../../../domain/kernel/settle.js';

describe('a contradiction', () => {
  it('is reported if a second check finds the same, not if a write was in progress', async () => {
    const contradiction = (proof: string) => ({ proof });
    const seen = new Map([
      ['mended', contradiction('3 of 4')],
      ['changed', contradiction('3 of 5')],
      ['standing', contradiction('1 of 2')],
    ]);
    let ended = false;
    // As long as a busy database may take from a record to its count.
    setTimeout(() => {
      ended = true;
    }, 200);
    const asked: string[][] = [];
    const before = performance.now();
    const standing = await settled(seen, async (about) => {
      asked.push(about);
      expect(ended, 'the write has ended').to.equal(true);
      return new Map([
        ['changed', contradiction('4 of 5')],
        ['standing', contradiction('1 of 2')],
        ['new', contradiction('0 of 1')],
      ]);
    });
    expect([...standing]).to.deep.equal([['standing', contradiction('1 of 2')]]);
    expect(asked).to.deep.equal([['mended', 'changed', 'standing']]);
    // It is waited for at each disagreement: a thousand of them are minutes, not hours.
    expect(performance.now() - before).to.be.below(2_500);
  });

  it('is not checked again if there is none', async () => {
    const standing = await settled(new Map<number, { proof: string }>(), () =>
      Promise.reject(new Error('looked')),
    );
    expect(standing.size).to.equal(0);
  });
});
