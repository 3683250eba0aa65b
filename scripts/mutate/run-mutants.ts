import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';
import { seededRandom } from './random.js';
import { type Equivalent, type Result, resultOf } from './report.js';
import { createSandbox } from './sandbox.js';

/** Time beyond three times their usual duration after which tests count as hanging, ms. */
const SLACK_MS = 30_000;

/** Draws without repeats, reproducibly by seed. */
export function draw<T>(list: readonly T[], size: number, seed: number): T[] {
  const rest = [...list];
  const below = seededRandom(seed);
  return Array.from(
    { length: Math.min(size, rest.length) },
    () => rest.splice(below(rest.length), 1)[0] as T,
  );
}

/** As many tests of a mutant as the time allows, but at least the first. */
function affordable({ tests: [first, ...others] }: Mutant, ms: number): { tests: string[]; ms: number } {
  if (!first) return { tests: [], ms: 0 };
  let sum = first.ms;
  const chosen = others.filter((test) => {
    if (sum + test.ms > ms) return false;
    sum += test.ms;
    return true;
  });
  return { tests: [first, ...chosen].map(({ test }) => test), ms: sum };
}

export interface RunOptions {
  /** The built project's folder. */
  root: string;
  /** Most time of tests for one mutant, by their usual duration, ms; one test file runs even if it takes longer. */
  budgetMs: number;
  /** Mutants tried at the same time. */
  jobs: number;
  equivalents: Equivalent[];
  /** Called with each result. */
  done(result: Result): void;
}

/** Applies one change after the other and runs the tests that reach it. */
export async function runMutants(mutants: readonly Mutant[], options: RunOptions): Promise<void> {
  const { root, budgetMs, jobs, equivalents, done } = options;
  const queue = [...mutants];

  async function work(name: string): Promise<void> {
    const sandbox = createSandbox(root, name);
    try {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const { tests, ms } = affordable(mutant, budgetMs);
        const text = readFileSync(join(root, mutant.compiled), 'utf8');
        const changed = text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end);
        // Code that no test reaches needs no run.
        const passed =
          tests.length === 0 ||
          (await sandbox.run(mutant.compiled, changed, tests, 3 * ms + SLACK_MS)).passed;
        done(resultOf(mutant, !passed, tests.length, equivalents));
      }
    } finally {
      sandbox.remove();
    }
  }

  await Promise.all(Array.from({ length: jobs }, (_, i) => work(String(i))));
}
