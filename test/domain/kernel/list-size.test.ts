import { expect } from 'chai';
import { commonLength, fitting } from '../../../domain/kernel/list-size.js';

describe('the size of a list', () => {
  it('is as many of the first items as fit, by their bytes of JSON, at least one', () => {
    const items = ['aaaa', '고고', 'c', 'd'];
    // 6, 8, 3 and 3 bytes with their quotes.
    expect(fitting(items, 20)).to.deep.equal(items);
    expect(fitting(items, 19)).to.deep.equal(['aaaa', '고고', 'c']);
    expect(fitting(items, 13)).to.deep.equal(['aaaa']);
    expect(fitting(items, 1)).to.deep.equal(['aaaa']);
    expect(fitting([], 1)).to.deep.equal([]);
    expect(fitting(items, 1, () => 1)).to.deep.equal(['aaaa']);
  });

  it('counts what JSON escapes, names of fields, and dates', () => {
    const sizes: [item: unknown, bytes: number][] = [
      ['\u0000\u001f', 14],
      ['\ud83d', 8],
      [{ ['\u0000'.repeat(20)]: null }, 129],
      [Array.from({ length: 50 }, () => new Date(0)), 1_351],
      [Array.from({ length: 50 }, () => -Number.EPSILON), 1_151],
    ];
    for (const [item, bytes] of sizes) {
      expect(Buffer.byteLength(JSON.stringify(item)), JSON.stringify(item)).to.equal(bytes);
      expect(fitting([item, item], 2 * bytes)).to.have.length(2);
      expect(fitting([item, item], 2 * bytes - 1)).to.have.length(1);
    }
  });

  it('encodes nothing of a list that is small', () => {
    let parts = 0;
    const countedPart = (item: string) => {
      parts += 1;
      return item;
    };
    expect(fitting(['a', 'b'], 100, countedPart)).to.deep.equal(['a', 'b']);
    expect(parts).to.equal(2);
  });

  it('shortens the longest only, and these alike', () => {
    const together = (lengths: number[], max: number) => {
      const common = commonLength(lengths, max);
      return lengths.map((length) => Math.min(length, common));
    };
    expect(together([5, 10, 20], 35)).to.deep.equal([5, 10, 20]);
    expect(together([20, 5, 10], 34)).to.deep.equal([19, 5, 10]);
    expect(together([20, 5, 20], 25)).to.deep.equal([10, 5, 10]);
    expect(together([20, 20, 20], 30)).to.deep.equal([10, 10, 10]);
    expect(together([], 30)).to.deep.equal([]);
  });
});
