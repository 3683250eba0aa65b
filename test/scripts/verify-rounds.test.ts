import { expect } from 'chai';
import type { Check } from '../../domain/kernel/verification.js';
import { verify } from '../../scripts/verify/verify.js';
import { printed } from '../support/output.js';

/** A check with the given findings; repairing one may reveal another. */
function checkOf(wrong: string[], { hidden = [] as string[], mends = true, size = 5 } = {}): Check {
  return {
    size: async () => size,
    async *run() {
      for (const text of [...wrong]) {
        yield {
          text,
          repair: async () => {
            if (!mends) return;
            wrong.splice(wrong.indexOf(text), 1);
            wrong.push(...hidden.splice(0, 1));
          },
        };
      }
    },
  };
}

const lines = (...texts: string[]) => texts.map((text) => `${text}\n`).join('');

describe('verify’s output and exit status', () => {
  it('without --repair: lists every difference once, and repairs nothing', async () => {
    const wrong = ['a', 'b'];
    const checks = [checkOf(wrong), checkOf(['c'], { size: 3 })];
    expect(await printed(() => verify(checks, false))).to.deep.equal({
      result: 1,
      stdout: lines('a', 'b', 'c', '3 differences (8 records)'),
      stderr: '',
    });
    expect(wrong).to.deep.equal(['a', 'b']);
    const one = await printed(() => verify([checkOf(['a'])], false));
    expect(one.stdout).to.equal(lines('a', '1 difference (5 records)'));
    const none = await printed(() => verify([checkOf([])], false));
    expect([none.result, none.stdout]).to.deep.equal([0, lines('everything agrees (5 records)')]);
  });

  it('with --repair: repairs, then checks again for what that revealed', async () => {
    const { result, stdout } = await printed(() => verify([checkOf(['a'], { hidden: ['b', 'c'] })], true));
    expect(stdout).to.equal(
      lines('a: repaired', 'b: repaired', 'c: repaired', 'everything agrees, 3 repaired (5 records)'),
    );
    expect(result).to.equal(0);
  });

  it('with --repair: gives up after three rounds', async () => {
    const { result, stdout } = await printed(() => verify([checkOf(['a'], { mends: false })], true));
    const repaired = Array.from({ length: 3 }, () => 'a: repaired');
    expect(stdout).to.equal(lines(...repaired, 'a', '1 difference, 3 repaired (5 records)'));
    expect(result).to.equal(1);
  });

  it('with --repair: lists once what it cannot repair, and repairs the rest', async () => {
    const manual: Check = {
      size: async () => 1,
      async *run() {
        yield { text: 'by hand' };
      },
    };
    const { result, stdout } = await printed(() => verify([manual, checkOf(['a'])], true));
    expect(stdout).to.equal(lines('by hand', 'a: repaired', '1 difference, 1 repaired (6 records)'));
    expect(result).to.equal(1);
  });

  it('fails with the error of a check or a repair', async () => {
    const away: Check = {
      size: async () => 1,
      async *run() {
        yield { text: 'a', repair: () => Promise.reject(new Error('database away')) };
      },
    };
    const failed = await printed(() => verify([away], true).catch((error: Error) => error.message));
    expect([failed.result, failed.stdout]).to.deep.equal(['database away', '']);
  });
});
