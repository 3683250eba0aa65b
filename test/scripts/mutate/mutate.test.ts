import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../domain/platform/process/project-root.js';
import { measureCoverage, type TestCoverage } from '../../../scripts/mutate/coverage.js';
import { mutantsOf } from '../../../scripts/mutate/mutant.js';
import { drawFrom, seededRandom } from '../../../scripts/mutate/random.js';
import { type Result, report } from '../../../scripts/mutate/report.js';
import { runMutants } from '../../../scripts/mutate/run-mutants.js';
import { runHere } from '../script-runs.js';

const source = `export function grade(points) {
    if (points >= 50) return 'passed';
    return 'failed';
}
export function unused() {
    return 5;
}
`;

const tests = {
  near: `import { grade } from '../grade.js';
it('passes', () => { if (grade(80) !== 'passed') throw new Error('80'); });
it('fails', () => { if (grade(20) !== 'failed') throw new Error('20'); });
`,
  // Fails once; its coverage is cut off, as if the process had been killed while writing it.
  far: `import { existsSync, writeFileSync } from 'node:fs';
it('has nothing to do with it', () => {
  const isFirst = !existsSync('tried');
  writeFileSync('tried', '');
  if (isFirst) throw new Error('the machine was busy');
  if (process.env.NODE_V8_COVERAGE) writeFileSync(process.env.NODE_V8_COVERAGE + '/cut.json', '{"result":[');
});
`,
};

/** Writes a source file and an identical compiled one. */
function writeSource(root: string, name: string, text: string): void {
  const mappings = text
    .split('\n')
    .map((_, i) => (i === 0 ? 'AAAA' : 'AACA'))
    .join(';');
  const map = { version: 3, file: `${name}.js`, sources: [`../${name}.ts`], names: [], mappings };
  writeFileSync(join(root, `${name}.ts`), text);
  writeFileSync(join(root, 'dist', `${name}.js`), text);
  writeFileSync(join(root, 'dist', `${name}.js.map`), JSON.stringify(map));
}

/** Creates a project with a source file and its tests. @returns its folder */
function createProject(): string {
  const root = mkdtempSync(join(tmpdir(), 'adoption-mutate-'));
  mkdirSync(join(root, 'dist', 'test', 'support'), { recursive: true });
  symlinkSync(join(projectRoot(), 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeSource(root, 'grade', source);
  writeFileSync(join(root, 'dist', 'test', 'support', 'setup.js'), '');
  for (const [name, text] of Object.entries(tests))
    writeFileSync(join(root, 'dist', 'test', `${name}.test.js`), text);
  return root;
}

describe('a run of mutants', () => {
  let root: string;
  let coverages: TestCoverage[];
  const measured: string[] = [];

  before(async () => {
    root = createProject();
    coverages = await measureCoverage(
      root,
      ['dist/test/near.test.js', 'dist/test/far.test.js'],
      1,
      false,
      (test) => measured.push(test),
    );
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  async function verdicts(kinds = / /, { measurements = coverages, budgetMs = 10_000 } = {}) {
    const results: Result[] = [];
    const mutants = mutantsOf(root, 'dist/grade.js', measurements).filter(({ kind }) => kinds.test(kind));
    await runMutants(mutants, {
      ...{ root, budgetMs, jobs: 2 },
      done: (result) => results.push(result),
    });
    return results;
  }

  it('runs the tests that reach the line, and reports what they did not notice', async () => {
    const results = await verdicts();
    const found = results.map(({ line, kind, verdict }) => `${line} ${kind}: ${verdict}`);
    expect(found).to.have.members([
      '2 < for >=: caught',
      '2 > for >=: survived',
      '2 condition always false: caught',
      '2 condition always true: caught',
      '2 condition negated: caught',
      '2 constant is 5: caught',
      '2 constant is 500: caught',
      '6 constant is 50: survived',
      '6 constant is 0.5: survived',
    ]);
    expect(results.find(({ line }) => line === 6)?.tests).to.deep.equal({ covering: 0, run: 0 });
    expect(results.find(({ line }) => line === 2)?.tests).to.deep.equal({ covering: 1, run: 1 });
    expect(report(results, 7)).to.include('seed 7: 6 of 9 caught (66.7 %), 3 survived');
  });

  it('keeps to the time for one mutation, but runs at least one test file', async () => {
    const [near] = coverages as [TestCoverage];
    const measurements = [300, 600, 600].map((ms) => ({ ...near, ms }));
    const run = async (budgetMs: number) =>
      (await verdicts(/^> for >=/, { measurements, budgetMs })).map((result) => result.tests);
    expect(await run(1_300)).to.deep.equal([{ covering: 3, run: 2 }]);
    expect(await run(100)).to.deep.equal([{ covering: 3, run: 1 }]);
  });

  it('runs the nearest tests first for code that runs when its file is loaded', () => {
    writeSource(root, 'limits', 'export const MOST = 5;\nexport const half = () => MOST / 2;\n');
    const text = readFileSync(join(root, 'dist', 'limits.js'), 'utf8');
    const whole: [number, number][] = [[0, text.length]];
    const untilHalf: [number, number][] = [[0, text.indexOf('MOST / 2')]];
    const measurement = (test: string, ms: number, covered: [number, number][]): TestCoverage => ({
      ...{ test: `dist/test/${test}.test.js`, ms, hashes: {} },
      covered: { 'dist/limits.js': covered },
    });
    const measurements = [
      measurement('other/quick', 100, whole),
      measurement('limits', 5_000, whole),
      measurement('other/another', 200, untilHalf),
    ];
    const testsOf = (line: number) =>
      mutantsOf(root, 'dist/limits.js', measurements)
        .find((mutant) => mutant.line === line)
        ?.tests.map(({ test }) => test.replace('dist/test/', '').replace('.test.js', ''));
    expect(testsOf(1)).to.deep.equal(['limits', 'other/quick', 'other/another']);
    expect(testsOf(2)).to.deep.equal(['other/quick', 'limits']);
  });

  it('measures again only if the test has changed, or with isFresh', async () => {
    const measure = async (isFresh = false) =>
      (await measureCoverage(root, ['dist/test/near.test.js'], 1, isFresh, () => {}))[0];
    const unused = source.indexOf('return 5');
    const unusedIsRun = (coverage: TestCoverage | undefined) =>
      coverage?.covered['dist/grade.js']?.some(([start, end]) => start <= unused && unused < end);
    const first = await measure();
    expect(first).to.deep.equal(coverages[0]);
    expect(unusedIsRun(first)).to.equal(false);
    writeFileSync(join(root, 'dist', 'grade.js'), `${source}// changed\n`);
    const changedSource = await measure();
    expect(changedSource?.ms).to.equal(first?.ms);
    expect(unusedIsRun(changedSource), 'in full, by all tests that load it').to.equal(true);
    expect(unusedIsRun(await measure(true))).to.equal(false);
    writeFileSync(join(root, 'dist', 'test', 'near.test.js'), `${tests.near}// changed\n`);
    expect((await measure())?.hashes).to.not.deep.equal(first?.hashes);
  });

  it('counts new imports of a changed file as run by all tests that load it', async () => {
    const paths = ['dist/test/near.test.js', 'dist/test/far.test.js'];
    const measure = () => measureCoverage(root, paths, 1, false, () => {});
    const before = await measure();
    const write = (name: string, text: string) => writeFileSync(join(root, 'dist', `${name}.js`), text);
    write('grade', `import './points.js';\n${source}`);
    write('points', "export * from './scale.js';");
    write('scale', 'export const MOST = 100;');
    const after = await measure();
    const whole = [[0, Number.POSITIVE_INFINITY]];
    expect(after.map(({ ms }) => ms)).to.deep.equal(before.map(({ ms }) => ms));
    expect(after[0]?.covered).to.deep.include({ 'dist/points.js': whole, 'dist/scale.js': whole });
    expect(after[1]?.covered).to.not.have.any.keys('dist/points.js', 'dist/scale.js');
  });

  it('draws the same for the same seed, without repeats', () => {
    const list = Array.from({ length: 100 }, (_, i) => i);
    const draw = (_: number[], size: number, seed: number) => drawFrom(list, size, seededRandom(seed));
    expect(draw(list, 10, 3))
      .to.deep.equal(draw(list, 10, 3))
      .and.not.deep.equal(draw(list, 10, 4));
    expect(new Set(draw(list, 100, 5)).size).to.equal(100);
  });
});

describe('npm run mutate', () => {
  let root: string;
  const NEAR = ['--tests', 'test/near.test.ts'];
  const mutate = (...args: string[]) => runHere(join(root, 'dist', 'scripts', 'mutate.js'), args, {});
  const last = (stdout: string) => stdout.trim().split('\n').at(-1);

  before(async () => {
    root = createProject();
    // The command works on the project that its own file belongs to.
    for (const folder of ['domain', 'scripts'])
      cpSync(join(projectRoot(), 'dist', folder), join(root, 'dist', folder), { recursive: true });
    writeSource(root, 'small', 'export const isSmall = (x, y) => x < 5 && y < 5;');
    const { status, stdout } = await mutate('small.ts', ...NEAR, '--seed', '7');
    expect(status).to.equal(1);
    expect(last(stdout)).to.equal('seed 7: 0 of 10 caught (0.0 %), 10 survived');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('tries every survivor again, also several of one kind on one line', async () => {
    const { status, stdout } = await mutate('--survivors', ...NEAR);
    expect(status).to.equal(1);
    expect(last(stdout)).to.equal('seed 7: 0 of 10 caught (0.0 %), 10 survived');
    expect(stdout).to.include('small.ts:1  <= for < (number 2)  (no test runs it)');
  });

  it('keeps the survivors outside the path it was given', async () => {
    const { status, stdout } = await mutate('grade.ts', '--survivors', ...NEAR);
    expect(status).to.equal(1);
    expect(stdout).to.match(/^0 of 9 changes/);
    expect(last(stdout)).to.include('10 survived');
  });

  it('lists the survivors that are gone', async () => {
    writeSource(root, 'small', 'export const isSmall = (x) => x < 5;');
    const { status, stdout } = await mutate('--survivors', ...NEAR);
    expect(status).to.equal(0);
    expect(stdout).to.include('Gone').and.include('small.ts:1  <= for < (number 2)');
    expect(last(stdout)).to.equal('seed 7: 0 of 0 caught (-), 0 survived, 10 gone');
  });

  it('refuses a sample of the survivors', async () => {
    const { status, stderr } = await mutate('--survivors', '--sample', '3', ...NEAR);
    expect(status).to.equal(2);
    expect(stderr).to.match(/^--survivors: .+ --sample/);
  });

  it('names --tests that are no tests', async () => {
    const nowhere = await mutate('grade.ts', '--tests', 'test/nope');
    expect(nowhere.status).to.equal(2);
    expect(nowhere.stderr).to.match(/^--tests: test\/nope is no file or folder/);
    const untested = await mutate('grade.ts', ...NEAR, '--tests', 'domain/kernel');
    expect(untested.status).to.equal(2);
    expect(untested.stderr).to.match(/^--tests: domain\/kernel has no tests/);
  });
});
