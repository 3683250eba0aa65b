import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutant.js';
import { type Equivalent, type Result, resultOf } from './report.js';
import { createSandbox } from './sandbox.js';

/** Time, in ms, that tests may take longer than usual before they count as hanging. */
const SLACK_MS = 30_000;

/** Draws without repeats, the same for the same seed (mulberry32). */
export function draw<T>(list: readonly T[], size: number, seed: number): T[] {
  const rest = [...list];
  let state = seed >>> 0;
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
  return Array.from(
    { length: Math.min(size, rest.length) },
    () => rest.splice(below(rest.length), 1)[0] as T,
  );
}

/** The tests that a change is worth: as many as the time allows, but at least the first one. */
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
  /** The project's folder, built. */
  root: string;
  /** Most ms of tests for one mutant, by their usual length; one test file runs even where it takes longer. */
  budgetMs: number;
  /** Mutants tried at the same time. */
  jobs: number;
  equivalents: Equivalent[];
  /** Called with each result as it comes. */
  done(result: Result): void;
}

/** Makes one change after another and runs the tests that reach it. */
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
        // What no test runs, no test can notice.
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
