import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { proveClean, proveMutants } from '../../../scripts/mutate/by-prove.js';
import { mutantsOf } from '../../../scripts/mutate/mutant.js';
import { type ProveResult, reportProve } from '../../../scripts/mutate/prove-report.js';
import { runHere } from '../script-runs.js';

/** What is proved: a service of one program. */
const SERVICE = `export function grade(points) {
    if (points >= 50) return 'passed';
    return 'failed';
}
export const pages = 2;
export function unused() {
    return 5;
}
`;

/** Stands for `npm run prove`: judges the program of --build. */
const PROVE = `import { writeFileSync } from 'node:fs';
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const fail = (why) => {
  console.error(why + '\\nthe installation is stopped, and its folder removed');
  process.exit(1);
};
writeFileSync(option('--log'), '');
const { grade, pages } = await import(option('--build') + '/grade.js');
if (process.argv.includes('--members=0')) fail('the run needs members');
const broken = grade(80) === 'passed' ? {} : { grades: 2 };
if (grade(20) !== 'failed') fail('grade 20 could not be read');
const isBroken = process.argv.includes('--members=1') || Object.keys(broken).length > 0;
const missing = ['never reached: luck ' + process.pid, ...(pages > 1 ? [] : ['never reached: second pages'])];
const outcome = isBroken ? 'broken' : 'unknown';
console.log(JSON.stringify({ outcome, broken: isBroken ? { grades: 2, ...broken } : {}, missing }));
`;

describe('mutants judged by prove', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'adoption-mutate-'));
    mkdirSync(join(root, 'dist'));
    symlinkSync(join(projectRoot(), 'node_modules'), join(root, 'node_modules'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'prove.js'), PROVE);
    const mappings = SERVICE.split('\n')
      .map((_, i) => (i === 0 ? 'AAAA' : 'AACA'))
      .join(';');
    const map = { version: 3, file: 'grade.js', sources: ['../grade.ts'], names: [], mappings };
    writeFileSync(join(root, 'grade.ts'), SERVICE);
    writeFileSync(join(root, 'dist', 'grade.js'), SERVICE);
    writeFileSync(join(root, 'dist', 'grade.js.map'), JSON.stringify(map));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const by = (args: string[] = []) => ({ root, script: join(root, 'prove.js'), args, jobs: 2 });

  it('are found by rules, by runs that cannot be done, and by what is not reached any more', async () => {
    const clean = await proveClean(by());
    expect([...clean.missing]).to.deep.equal(['never reached: luck N']);
    const results: ProveResult[] = [];
    const mutants = mutantsOf(root, 'dist/grade.js', [clean.coverage]);
    await proveMutants(mutants, by(), clean, (result) => results.push(result));
    const told = results.map(
      ({ line, kind, verdict, says }) => `${line} ${kind}: ${[verdict, ...says].join(', ')}`,
    );
    expect(told).to.have.members([
      '2 < for >=: not done, grade 20 could not be read',
      '2 > for >=: missed',
      '2 condition always false: found, grades',
      '2 condition always true: not done, grade 20 could not be read',
      '2 condition negated: not done, grade 20 could not be read',
      '2 constant is 5: not done, grade 20 could not be read',
      '2 constant is 500: found, grades',
      '5 constant is 0.2: unreached, never reached: second pages',
      '5 constant is 20: missed',
      '7 constant is 0.5: not run',
      '7 constant is 50: not run',
    ]);
    const report = reportProve(results, 7);
    expect(report).to.match(/^seed 7: 7 of 9 found \(77\.8 %\); 2 others in code that no run reaches$/m);
    expect(report).to.match(/^ +2 {2}grades$/m);
    expect(readFileSync(join(root, 'dist', 'grade.js'), 'utf8')).to.equal(SERVICE);
  });

  it('are not tried where the unchanged build breaks a promise, or is not proved', async () => {
    const errorOf = (args: string[]) =>
      proveClean(by(args)).then(
        () => undefined,
        (error: Error) => error.message,
      );
    expect(await errorOf(['--members=1'])).to.equal('the unchanged build breaks grades');
    expect(await errorOf(['--members=0'])).to.equal('the unchanged build: the run needs members');
  });

  it('take no options of tests, and tests none of theirs', async () => {
    const told = async (args: string[]) => (await runHere('scripts/mutate.js', args, {})).stderr;
    expect(await told(['--by', 'prove', '--tests', 'test/domain'])).to.match(
      /^--tests: not with --by prove$/m,
    );
    expect(await told(['--run', 'members=8'])).to.match(/^--run: only with --by prove$/m);
    expect(await told(['--by', 'prove', '--from', 'missing.json'])).to.match(
      /^--from: missing\.json has no results of a run: ENOENT/m,
    );
  });
});
