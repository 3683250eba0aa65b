import { expect } from 'chai';
import type { Check } from '../../domain/kernel/verification.js';
import { verify } from '../../scripts/verify/verify.js';
import { printed } from '../support/output.js';

/** A check over what is wrong with something; mending one thing may bring another to light. */
function checkOf(wrong: string[], { hidden = [] as string[], mends = true, size = 5 } = {}): Check {
  return {
    size: async () => size,
    async *run() {
      for (const text of [...wrong]) {
        yield {
          text,
          mend: async () => {
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

describe('What verify prints and answers', () => {
  it('without --repair: all that disagrees, once, and mends nothing', async () => {
    const wrong = ['a', 'b'];
    const checks = [checkOf(wrong), checkOf(['c'], { size: 3 })];
    expect(await printed(() => verify(checks, false))).to.deep.equal({
      result: 1,
      stdout: lines('a', 'b', 'c', '3 things disagree (8 records)'),
      stderr: '',
    });
    expect(wrong).to.deep.equal(['a', 'b']);
    const one = await printed(() => verify([checkOf(['a'])], false));
    expect(one.stdout).to.equal(lines('a', '1 thing disagrees (5 records)'));
    const none = await printed(() => verify([checkOf([])], false));
    expect([none.result, none.stdout]).to.deep.equal([0, lines('everything agrees (5 records)')]);
  });

  it('with --repair: mends, and looks again for what came to light', async () => {
    const { result, stdout } = await printed(() => verify([checkOf(['a'], { hidden: ['b', 'c'] })], true));
    expect(stdout).to.equal(
      lines('a: mended', 'b: mended', 'c: mended', 'everything agrees, 3 mended (5 records)'),
    );
    expect(result).to.equal(0);
  });

  it('with --repair: gives up what three rounds have not mended', async () => {
    const { result, stdout } = await printed(() => verify([checkOf(['a'], { mends: false })], true));
    const mended = Array.from({ length: 3 }, () => 'a: mended');
    expect(stdout).to.equal(lines(...mended, 'a', '1 thing disagrees, 3 mended (5 records)'));
    expect(result).to.equal(1);
  });

  it('with --repair: tells what only a person can decide once, and mends the rest', async () => {
    const person: Check = {
      size: async () => 1,
      async *run() {
        yield { text: 'for a person' };
      },
    };
    const { result, stdout } = await printed(() => verify([person, checkOf(['a'])], true));
    expect(stdout).to.equal(lines('for a person', 'a: mended', '1 thing disagrees, 1 mended (6 records)'));
    expect(result).to.equal(1);
  });

  it('fails with what a check or a mending fails with', async () => {
    const away: Check = {
      size: async () => 1,
      async *run() {
        yield { text: 'a', mend: () => Promise.reject(new Error('database away')) };
      },
    };
    const failed = await printed(() => verify([away], true).catch((error: Error) => error.message));
    expect([failed.result, failed.stdout]).to.deep.equal(['database away', '']);
  });
});
