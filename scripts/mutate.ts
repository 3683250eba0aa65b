import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectRoot } from '../domain/platform/process/project-root.js';
import { createProgress } from './command/progress.js';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { measureCoverage } from './mutate/coverage.js';
import { denotes, mutantsOf } from './mutate/mutant.js';
import { plantedFaults } from './mutate/planted/index.js';
import { runPlanted } from './mutate/planted/run-planted.js';
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

What each test file reaches is measured first, which takes some minutes; later runs measure only tests that have
changed, and count a changed source file, with its new imports, as run in full by all tests that load it.
Results are kept in coverage/mutate.json. A survivor whose line has changed since is listed as gone.

Exit status: 0 all caught; 1 some survived; of --planted 0 each found by its rule.`;

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
});

/** Compiled files under a folder of `dist`, from the project's root. */
function compiledUnder(root: string, folder: string): string[] {
  return readdirSync(join(root, 'dist', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join('dist', folder, name))
    .sort();
}

const compiledName = (path: string) => join('dist', path.replace(/\.ts$/, '.js'));

/**
 * The compiled files of a path of the source or of the tests.
 * @param argument its name in messages
 * @throws UsageError when there is none
 */
function compiledOf(root: string, path: string, argument: string): string[] {
  try {
    if (path.endsWith('.ts')) {
      const compiled = compiledName(path);
      readFileSync(join(root, compiled));
      return [compiled];
    }
    return compiledUnder(root, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(`${argument}: ${path} is no file or folder of this project`);
  }
}

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
    },
  });
  const options = checkArguments(optionSchema, values);
  const { sample, seconds, jobs, survivors, fresh, seed = Math.floor(Math.random() * 2 ** 31) } = options;
  if (survivors && (sample ?? options.seed) !== undefined)
    throw new UsageError('--survivors: tries every survivor, so --sample and --seed cannot be given with it');
  const root = projectRoot();
  if (options.planted) return tryPlanted(root, positionals, jobs);
  const resultsFile = join(root, 'coverage', 'mutate.json');
  const last: Run = survivors ? lastRun(resultsFile) : { seed, results: [] };
  const survived = last.results.filter(({ verdict }) => verdict === 'survived' || verdict === 'gone');
  const defaults = survivors
    ? [...new Set(survived.map(({ file }) => file))].filter((file) =>
        existsSync(join(root, compiledName(file))),
      )
    : ['domain', 'gateway', 'http'];
  const paths = positionals.length > 0 ? positionals : defaults;
  const compiled = paths.flatMap((path) => compiledOf(root, path, 'PATH'));
  const tests = options.tests.flatMap((path) => testsOf(root, path));
  const measuring = createProgress(tests.length, 'coverage of the tests');
  const coverages = await measureCoverage(root, tests, jobs, fresh, () => measuring.advance(1));
  measuring.stop();

  const all = compiled.flatMap((file) => mutantsOf(root, file, coverages));
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
});
