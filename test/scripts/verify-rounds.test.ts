import { expect } from 'chai';
import type { Check, Finding } from '../../domain/kernel/verification.js';
import { type VerifyOptions, verify as verifyWith } from '../../scripts/verify/verify.js';
import { printed } from '../support/output.js';

const verify = (checks: Check[], repair: boolean, options: Partial<VerifyOptions> = {}) =>
  verifyWith(checks, { repair, json: false, livingProcesses: async () => [], ...options });

const finding = (text: string, over: Partial<Finding> = {}): Finding => ({
  ...{ area: 'chat', kind: 'room-unread', record: 'room 7', found: 1, expected: 2, text },
  ...over,
});

/** A check with the given findings; repairing one may reveal another. */
function checkOf(wrong: string[], { hidden = [] as string[], mends = true, size = 5 } = {}): Check {
  return {
    size: async () => size,
    async *run(checked) {
      for (const text of [...wrong]) {
        yield finding(text, {
          repair: async () => {
            if (!mends) return;
            wrong.splice(wrong.indexOf(text), 1);
            wrong.push(...hidden.splice(0, 1));
          },
        });
      }
      await checked(size);
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
      async *run(checked) {
        yield finding('by hand');
        await checked(1);
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
        yield finding('a', { repair: () => Promise.reject(new Error('database away')) });
      },
    };
    const failed = await printed(() => verify([away], true).catch((error: Error) => error.message));
    expect([failed.result, failed.stdout]).to.deep.equal(['database away', '']);
  });

  it('with --repair: lists what only a repair reveals and nobody can repair', async () => {
    const hidden: string[] = [];
    const revealed: Check = {
      size: async () => 1,
      async *run() {
        for (const text of hidden) yield finding(text);
      },
    };
    const revealing = checkOf(['a'], { hidden: ['b'] });
    const first: Check = {
      size: revealing.size,
      async *run(checked) {
        for await (const one of revealing.run(checked)) {
          yield {
            ...one,
            repair: () => Promise.resolve(one.repair?.()).then(() => void hidden.push('by hand')),
          };
        }
      },
    };
    const { result, stdout } = await printed(() => verify([revealed, first], true));
    expect(stdout).to.equal(
      lines(
        'a: repaired',
        'by hand',
        'b: repaired',
        'by hand',
        '2 differences, 2 repaired (5 records)',
      ).replace('by hand\n2', '2'),
    );
    expect(result).to.equal(1);
  });

  it('with --repair: leaves what a running service would undo, says so, and repairs the rest', async () => {
    let repairs = 0;
    const renumbering: Check = {
      size: async () => 1,
      async *run(checked) {
        const repair = async () => {
          repairs += 1;
        };
        if (repairs === 0) yield finding('a gap', { repair, isStopNeeded: true });
        await checked(1);
      },
    };
    const checks = [renumbering, checkOf(['a'])];
    const livingProcesses = async () => ['process 5 on host, 0a1b2c3d'];
    const { result, stdout } = await printed(() => verify(checks, true, { livingProcesses }));
    expect(stdout).to.equal(
      lines(
        'a gap: not repaired, stop the service first: process 5 on host ran within the last 90 s',
        'a: repaired',
        '1 difference, 1 repaired (6 records)',
      ),
    );
    expect([result, repairs]).to.deep.equal([1, 0]);
    const stopped = await printed(() => verify(checks, true));
    expect(stopped.stdout).to.equal(lines('a gap: repaired', 'everything agrees, 1 repaired (6 records)'));
    expect(stopped.result).to.equal(0);
  });

  it('with --json: prints an object per line, the totals last', async () => {
    const found = {
      ...{ type: 'finding', area: 'chat', kind: 'room-unread', record: 'room 7', found: 1, expected: 2 },
    };
    const objects = (stdout: string) =>
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const listed = await printed(() => verify([checkOf(['a'])], false, { json: true }));
    expect(objects(listed.stdout)).to.deep.equal([
      { ...found, text: 'a', repaired: false },
      { type: 'summary', agrees: false, records: 5, differences: 1, repaired: 0 },
    ]);
    const sender: Check = {
      size: async () => 1,
      async *run() {
        yield finding('b', { expected: undefined });
      },
    };
    const repaired = await printed(() => verify([checkOf(['a']), sender], true, { json: true }));
    expect(objects(repaired.stdout)).to.deep.equal([
      { ...found, text: 'a', repaired: true },
      { ...found, expected: null, text: 'b', repaired: false },
      { type: 'summary', agrees: false, records: 5, differences: 1, repaired: 1 },
    ]);
    expect([listed, repaired].map(({ result, stderr }) => [result, stderr])).to.deep.equal([
      [1, ''],
      [1, ''],
    ]);
  });
});
