import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mocha, { type Runner, type Test } from 'mocha';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { tableOf, textOf } from './documents.js';
import { faultTests } from './fault-tests.js';

export const RELIABILITY = 'docs/reliability.md';
export const HEAD = '| No. | Test | In | Result |';

/** Titles of the tests that have run, by result. */
type Ran = Record<'passed' | 'failed' | 'pending', string[]>;

/** How often a test passed, and what else it did; empty if it has not run. */
function resultOf(isTitled: (title: string) => boolean, ran: Ran): string {
  return Object.entries(ran)
    .map(([result, titles]) => [result, titles.filter(isTitled).length] as const)
    .filter(([, times]) => times > 0)
    .map(([result, times]) => (times === 1 ? result : `${times} ${result}`))
    .join(', ');
}

/** Writes the results into the table. Tests that have not run keep the result they had. */
function write(ran: Ran): void {
  const results = new Map(
    tableOf(RELIABILITY, HEAD).map(([, title, path, result]) => [`${title}${path}`, result]),
  );
  const rows = faultTests.map(({ faults, title, path, isTitled }) => {
    const file = `\`${path}\``;
    const result = resultOf(isTitled, ran) || results.get(`${title}${file}`) || 'not run';
    return `| ${faults.join(', ')} | ${title} | ${file} | ${result} |\n`;
  });
  const [before] = textOf(RELIABILITY).split(HEAD);
  writeFileSync(join(projectRoot(), RELIABILITY), `${before}${HEAD}\n|---|---|---|---|\n${rows.join('')}`);
}

/** Mocha's `spec`, which also writes the results of the tests of faults into docs/reliability.md. */
export default class Reliability extends mocha.reporters.Spec {
  constructor(runner: Runner, options?: Mocha.MochaOptions) {
    super(runner, options);
    const ran: Ran = { passed: [], failed: [], pending: [] };
    runner.on('pass', ({ title }: Test) => void ran.passed.push(title));
    runner.on('fail', ({ title }: Test) => void ran.failed.push(title));
    runner.on('pending', ({ title }: Test) => void ran.pending.push(title));
    runner.on('end', () => write(ran));
  }
}
