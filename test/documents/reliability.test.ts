import { expect } from 'chai';
import { promises, tableOf } from './documents.js';
import { faults, faultTests } from './fault-tests.js';
import { HEAD, RELIABILITY } from './reliability.js';

const NONE = '–';

describe('docs/faults.md', () => {
  it('has rows numbered without a gap, each with a promise', () => {
    expect(faults.map(({ number }) => number)).to.deep.equal(faults.map((_, i) => String(i + 1)));
    const kept = faults.map(({ promise }) => promise);
    expect(kept.filter((promise) => promise !== NONE && !promises.includes(promise))).to.deep.equal([]);
  });

  it('has a test for each row, and a row for each test', () => {
    const tested = new Set(faultTests.flatMap((test) => test.faults));
    const wanted = faults.filter(({ promise }) => promise !== NONE).map(({ number }) => number);
    expect(wanted.filter((number) => !tested.has(number))).to.deep.equal([]);
    expect([...tested].filter((number) => !wanted.includes(number))).to.deep.equal([]);
  });
});

describe('docs/reliability.md', () => {
  it('lists exactly the tests of faults, and shows that each has passed', () => {
    const rows = tableOf(RELIABILITY, HEAD);
    expect(rows.map(([numbers, title, path]) => `${numbers}: ${title} (${path})`)).to.deep.equal(
      faultTests.map((test) => `${test.faults.join(', ')}: ${test.title} (\`${test.path}\`)`),
    );
    expect(rows.filter(([, , , result]) => !/^(?:\d+ )?passed$/.test(result ?? ''))).to.deep.equal([]);
  });
});
