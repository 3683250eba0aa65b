import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createProgress } from '../command/progress.js';
import { proveClean, proveMutants } from './by-prove.js';
import { type ChangeKey, denotes, mutantsOf } from './mutant.js';
import { lineOf, type ProveResult, reportProve } from './prove-report.js';
import { drawFrom, seededRandom } from './random.js';

/** Options of every run of prove unless others are given, without their dashes. */
export const RUN = 'members=12 seconds=30 http=2 gateways=2 faults=none';

/** Results of runs of prove. */
const proveResultsFile = (root: string): string => join(root, 'coverage', 'mutate-prove.json');

export interface ProveCommand {
  /** The built project's folder. */
  root: string;
  /** Compiled files to change. */
  compiled: string[];
  sample: number | undefined;
  seed: number;
  jobs: number;
  /** Options of each run, as `members=12 faults=none`. */
  run: string;
  /** Only these changes. */
  only: ChangeKey[] | undefined;
}

/** Draws changes and proves each. Prints each result, and the report. @returns the exit status */
export async function mutateByProve(command: ProveCommand): Promise<number> {
  const { root, compiled, sample, seed, jobs, run, only } = command;
  const script = join(root, 'dist', 'scripts', 'prove.js');
  const words = run.split(/\s+/).filter(Boolean);
  const args = [...words, `seed=${seed % 1_000_000_000}`].map((word) => `--${word}`);
  const by = { root, script, args, jobs };
  process.stdout.write(`proving the unchanged build first: ${args.join(' ')}\n`);
  const clean = await proveClean(by);
  for (const line of clean.missing) process.stdout.write(`not demanded of changed builds: ${line}\n`);
  const all = compiled
    .flatMap((file) => mutantsOf(root, file, [clean.coverage]))
    .filter((mutant) => !only || only.some((one) => denotes(one, mutant)));
  const reached = all.filter(({ tests }) => tests.length > 0);
  const mutants = drawFrom(all, sample ?? all.length, seededRandom(seed));
  process.stdout.write(
    `${mutants.length} of ${all.length} changes, ${reached.length} of them in code that a run reaches, seed ${seed}\n`,
  );
  const progress = createProgress(mutants.length, 'mutants');
  const results: ProveResult[] = [];
  await proveMutants(mutants, by, clean, (result) => {
    results.push(result);
    writeFileSync(proveResultsFile(root), `${JSON.stringify({ seed, results }, null, 2)}\n`);
    progress.advance(1);
    if (result.verdict !== 'not run') progress.line(lineOf(result));
  });
  progress.stop();
  process.stdout.write(`\n${reportProve(results, seed)}\n`);
  return results.some(({ verdict }) => verdict === 'missed') ? 1 : 0;
}
