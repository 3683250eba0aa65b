import { changedText, type Mutant } from './mutant.js';
import { type Result, resultOf } from './report.js';
import { createSandbox } from './sandbox.js';

/** CPU time beyond three times the usual one after which tests count as hanging, s. */
const SLACK_SECONDS = 30;

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
  /** Most CPU time of tests for one mutant, by what they usually take, ms; one test file runs even if it takes more. */
  budgetMs: number;
  /** Mutants tried at the same time. */
  jobs: number;
  /** Called with each result. */
  done(result: Result): void;
}

/** Applies one change after the other and runs the tests that reach it. */
export async function runMutants(mutants: readonly Mutant[], options: RunOptions): Promise<void> {
  const { root, budgetMs, jobs, done } = options;
  const queue = [...mutants];

  async function work(name: string): Promise<void> {
    const sandbox = createSandbox(root, name);
    try {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const { tests, ms } = affordable(mutant, budgetMs);
        const changed = changedText(root, mutant);
        // Code that no test reaches needs no run.
        const passed =
          tests.length === 0 ||
          (await sandbox.run(mutant.compiled, changed, tests, Math.ceil((3 * ms) / 1_000) + SLACK_SECONDS))
            .passed;
        done(resultOf(mutant, !passed, tests.length));
      }
    } finally {
      sandbox.remove();
    }
  }

  await Promise.all(Array.from({ length: jobs }, (_, i) => work(String(i))));
}
