import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot } from '../domain/platform/process/project-root.js';
import { createProgress } from './command/progress.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { compiledName, compiledOf } from './mutate/compiled.js';
import { measureCoverage } from './mutate/coverage.js';
import { type ChangeKey, denotes, mutantsOf } from './mutate/mutant.js';
import { plantedFaults } from './mutate/planted/index.js';
import { runPlanted } from './mutate/planted/run-planted.js';
import { mutateByProve, RUN } from './mutate/prove-command.js';
import { drawFrom, seededRandom } from './mutate/random.js';
import { type Result, report } from './mutate/report.js';
import { runMutants } from './mutate/run-mutants.js';

const usage = `Usage: npm run mutate -- [PATH ...] [options]

Mutation testing: changes the compiled code in one place at a time (a removed await, call, condition or field,
another operator or constant) and runs the tests that reach the changed line, until one fails. A change that
no test notices is printed with its line.

PATH: a folder or file of the source (default: domain gateway http)

  --sample N     changes to try, drawn at random (default: all)
  --seed S       seed of the draw (default: random, printed)
  --seconds N    most seconds of CPU time of tests for one change, by what they usually take (default 90), but at
                 least one test file; those that run most of the changed file in the least time come first, and
                 the nearest for code that runs when the file is loaded
  --jobs N       test files or changes run at the same time (default 2)
  --tests PATH   folder or file of tests to run, for instance test/domain/chat; may be repeated (default: all)
  --fresh        measure again what each test file reaches
  --planted      instead, tries the planted faults (docs/consistency.md), all or those named in place of PATH: a run of
                 npm run prove on a copy of the build with each, and one without any (none); with --jobs
  --survivors    only the changes that survived the last run (in PATH if given), for instance after new tests;
                 not with --sample or --seed
  --by JUDGE     tests (default), or prove: instead of tests, a run of npm run prove judges each change, with
                 its own installation, of which only the http and gateway processes are changed, until the first
                 promise is broken
  --run OPTIONS  with --by prove: options of each run without their dashes
                 (default: "${RUN}")
  --from FILE    only changes that the results of an earlier run by the other judge name: with --by prove,
                 those that tests caught (coverage/mutate.json); by tests, those that prove did not find
                 (coverage/mutate-prove.json)

What each test file reaches is measured first, which takes some minutes; later runs measure only tests that have
changed, and count a changed source file, with its new imports, as run in full by all tests that load it.
Results are kept in coverage/mutate.json. A survivor whose line has changed since is listed as gone.

With --by prove the unchanged build is proved first: it must break nothing, and shows what code runs reach; a change
elsewhere is counted apart, without a run. Found is a change by which a promise is broken, the run comes to no
verdict, or twice something is not reached that runs of the unchanged build reach. Results are kept in
coverage/mutate-prove.json.

Exit status: 0 all caught or found; 1 some survived or were missed; of --planted 0 each found by its rule.`;

/** Where the code of the service is. */
const SERVICE = ['domain', 'gateway', 'http'];

const count = z.coerce.number('must be a number').int('must be a whole number').min(1, 'must be at least 1');

const optionSchema = z.object({
  sample: count.optional(),
  seed: z.coerce.number('must be a number').int('must be a whole number').optional(),
  seconds: count.default(90),
  jobs: count.default(2),
  tests: z.array(z.string()).default(['test']),
  survivors: z.boolean().default(false),
  fresh: z.boolean().default(false),
  planted: z.boolean().default(false),
  by: z.enum(['tests', 'prove'], 'must be tests or prove').default('tests'),
  run: z.string().optional(),
  from: z.string().optional(),
});

type Options = z.output<typeof optionSchema>;

/** The compiled test files of a path. @throws UsageError when there is none */
function testsOf(root: string, path: string): string[] {
  const tests = compiledOf(root, path, '--tests').filter((name) => name.endsWith('.test.js'));
  if (tests.length === 0) throw new UsageError(`--tests: ${path} has no tests`);
  return tests;
}

interface Run {
  seed: number;
  results: Result[];
}

/** @throws UsageError when there was none */
function lastRun(file: string): Run {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Run;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError('--survivors: there is no last run');
  }
}

/** Tries planted faults. @returns the exit status @throws UsageError naming what is none */
async function tryPlanted(root: string, named: string[], jobs: number): Promise<number> {
  const known = ['none', ...Object.keys(plantedFaults)];
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new UsageError(`--planted: no fault ${unknown.join(', ')}`);
  const names = named.length > 0 ? named : known;
  let missed = 0;
  await runPlanted({
    ...{ root, names, jobs },
    done({ name, fault, isFound, text }) {
      if (!isFound) missed += 1;
      process.stdout.write(
        `${isFound ? 'found ' : 'MISSED'} ${name} (${fault?.rule ?? 'nothing'}): ${text}\n`,
      );
    },
  });
  process.stdout.write(`${names.length - missed} of ${names.length} as expected\n`);
  return missed === 0 ? 0 : 1;
}

/** The changes of a results file that one judge saw and the other may not. @throws UsageError if it is none */
function changesFrom(file: string, verdicts: string[]): ChangeKey[] {
  try {
    const { results } = JSON.parse(readFileSync(file, 'utf8')) as {
      results: (ChangeKey & { verdict: string })[];
    };
    return results.filter(({ verdict }) => verdicts.includes(verdict));
  } catch (error) {
    throw new UsageError(`--from: ${file} has no results of a run: ${(error as Error).message}`);
  }
}

/** @throws UsageError naming an option that is only for the other judge */
function checkJudge({ by, run, survivors, sample, seed }: Options, given: string[]): void {
  const ofTests = given.filter((name) =>
    ['seconds', 'tests', 'survivors', 'fresh', 'planted'].includes(name),
  );
  if (by === 'prove' && ofTests.length > 0) throw new UsageError(`--${ofTests[0]}: not with --by prove`);
  if (by === 'tests' && run !== undefined) throw new UsageError('--run: only with --by prove');
  if (survivors && (sample ?? seed) !== undefined)
    throw new UsageError('--survivors: tries every survivor, so --sample and --seed cannot be given with it');
}

async function mutateByTests(root: string, options: Options, positionals: string[]): Promise<number> {
  const {
    sample,
    seconds,
    jobs,
    survivors,
    fresh,
    from,
    seed = Math.floor(Math.random() * 2 ** 31),
  } = options;
  const only = from === undefined ? undefined : changesFrom(from, ['missed', 'not run']);
  const resultsFile = join(root, 'coverage', 'mutate.json');
  const last: Run = survivors ? lastRun(resultsFile) : { seed, results: [] };
  const survived = last.results.filter(({ verdict }) => verdict === 'survived' || verdict === 'gone');
  const defaults = survivors
    ? [...new Set(survived.map(({ file }) => file))].filter((file) =>
        existsSync(join(root, compiledName(file))),
      )
    : SERVICE;
  const paths = positionals.length > 0 ? positionals : defaults;
  const compiled = paths.flatMap((path) => compiledOf(root, path, 'PATH'));
  const tests = options.tests.flatMap((path) => testsOf(root, path));
  const measuring = createProgress(tests.length, 'coverage of the tests');
  const coverages = await measureCoverage(root, tests, jobs, fresh, () => measuring.advance(1));
  measuring.stop();

  const all = compiled
    .flatMap((file) => mutantsOf(root, file, coverages))
    .filter((mutant) => !only || only.some((one) => denotes(one, mutant)));
  const open = survived.filter(
    ({ file }) => positionals.length === 0 || compiled.includes(compiledName(file)),
  );
  const mutants = survivors
    ? all.filter((mutant) => open.some((one) => denotes(one, mutant)))
    : drawFrom(all, sample ?? all.length, seededRandom(seed));
  process.stdout.write(`${mutants.length} of ${all.length} changes, seed ${last.seed}\n`);

  const progress = createProgress(mutants.length, 'mutants');
  const gone = open.filter((one) => !all.some((mutant) => denotes(one, mutant)));
  const results: Result[] = [
    ...last.results.filter((one) => !open.includes(one)),
    ...gone.map((one) => ({ ...one, verdict: 'gone' as const })),
  ];
  // Survivors not tried yet: they stay survivors if the run is interrupted.
  let waiting = open.filter((one) => !gone.includes(one));
  const save = () =>
    writeFileSync(
      resultsFile,
      `${JSON.stringify({ seed: last.seed, results: [...results, ...waiting] }, null, 2)}\n`,
    );
  await runMutants(mutants, {
    ...{ root, jobs, budgetMs: seconds * 1_000 },
    done(result) {
      results.push(result);
      waiting = waiting.filter((one) => !denotes(one, result));
      save();
      progress.advance(1);
    },
  });
  save();
  progress.stop();
  process.stdout.write(`${report(results, last.seed)}\n`);
  return results.some(({ verdict }) => verdict === 'survived') ? 1 : 0;
}

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string' },
      seconds: { type: 'string' },
      jobs: { type: 'string' },
      tests: { type: 'string', multiple: true },
      survivors: { type: 'boolean' },
      fresh: { type: 'boolean' },
      planted: { type: 'boolean' },
      by: { type: 'string' },
      run: { type: 'string' },
      from: { type: 'string' },
    },
  });
  const options = checkArguments(optionSchema, values);
  checkJudge(options, Object.keys(values));
  const root = projectRoot();
  if (options.planted) return tryPlanted(root, positionals, options.jobs);
  if (options.by === 'tests') return mutateByTests(root, options, positionals);
  const { sample, jobs, from, run = RUN, seed = Math.floor(Math.random() * 2 ** 31) } = options;
  const paths = positionals.length > 0 ? positionals : SERVICE;
  return mutateByProve({
    ...{
      root,
      sample,
      seed,
      jobs,
      run,
      only: from === undefined ? undefined : changesFrom(from, ['caught']),
    },
    compiled: paths.flatMap((path) => compiledOf(root, path, 'PATH')),
  });
});
