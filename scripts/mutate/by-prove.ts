import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readReports, type TestCoverage } from './coverage.js';
import { changedText, type Mutant } from './mutant.js';
import type { ProveResult } from './prove-report.js';
import { type ProveOutcome, proveBuild } from './prove-run.js';
import { createSandbox, type Sandbox } from './sandbox.js';

export interface ByProve {
  /** The built project's folder. */
  root: string;
  /** The compiled command. */
  script: string;
  /** Options of each run. */
  args: string[];
  /** Runs at the same time. */
  jobs: number;
}

/** What runs of the unchanged build show. */
export interface Clean {
  /** What their processes of the service run. */
  coverage: TestCoverage;
  /** What one of them or another did not reach: without it, a run of a mutant shows nothing. */
  missing: Set<string>;
}

/** How much of something was reached differs from run to run. */
const withoutNumbers = (line: string): string => line.replace(/\d+/g, 'N');

const isolated = async <T>(root: string, i: number, run: (sandbox: Sandbox) => Promise<T>): Promise<T> => {
  const sandbox = createSandbox(root, `prove-${i}`);
  try {
    return await run(sandbox);
  } finally {
    sandbox.remove();
  }
};

const runIn = ({ script, args }: ByProve, { build }: Sandbox, env?: NodeJS.ProcessEnv) =>
  proveBuild({
    ...{ script, args, build, log: join(build, '..', 'history.ndjson') },
    ...(env ? { env } : {}),
  });

/**
 * Proves the unchanged build, as many times at once as there are jobs.
 * @throws Error if a promise is broken, or there is no verdict: then mutants would show nothing
 */
export async function proveClean(by: ByProve): Promise<Clean> {
  const reports = join(by.root, 'coverage', 'prove');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const missing = new Set<string>();
  const ends = await Promise.allSettled(
    Array.from({ length: by.jobs }, (_, i) =>
      isolated(by.root, i, async (sandbox) => {
        // V8 makes the service slower: the others run as those of mutants will.
        const ran = await runIn(by, sandbox, i === 0 ? { NODE_V8_COVERAGE: reports } : undefined);
        if (ran.outcome === 'not done') throw new Error(`the unchanged build: ${ran.why}`);
        if (ran.outcome === 'broken') throw new Error(`the unchanged build breaks ${ran.rules.join(', ')}`);
        for (const line of ran.missing) missing.add(withoutNumbers(line));
        return i === 0 ? [{ test: 'prove', ms: 1, ...readReports(dirname(sandbox.build), reports) }] : [];
      }),
    ),
  );
  rmSync(reports, { recursive: true, force: true });
  const coverages = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
  return { coverage: coverages.flat()[0] as TestCoverage, missing };
}

/** What a run did not reach that runs of the unchanged build reach. */
const lostIn = (ran: ProveOutcome, { missing }: Clean): string[] =>
  'missing' in ran ? ran.missing.filter((line) => !missing.has(withoutNumbers(line))) : [];

async function judge(
  by: ByProve,
  clean: Clean,
  sandbox: Sandbox,
): Promise<Pick<ProveResult, 'verdict' | 'says'>> {
  const ran = await runIn(by, sandbox);
  if (ran.outcome === 'broken') return { verdict: 'found', says: ran.rules };
  if (ran.outcome === 'not done') return { verdict: 'not done', says: [ran.why] };
  const lost = lostIn(ran, clean).map(withoutNumbers);
  if (lost.length === 0) return { verdict: 'missed', says: [] };
  // By chance one run reaches less than another: what counts is what neither of two does.
  const again = await runIn(by, sandbox);
  if (again.outcome === 'broken') return { verdict: 'found', says: again.rules };
  const never = lostIn(again, clean).filter((line) => lost.includes(withoutNumbers(line)));
  return never.length > 0 ? { verdict: 'unreached', says: never } : { verdict: 'missed', says: [] };
}

/**
 * Proves one mutant after the other, each with all but the service unchanged.
 * @param done called with each result
 */
export async function proveMutants(
  mutants: readonly Mutant[],
  by: ByProve,
  clean: Clean,
  done: (result: ProveResult) => void,
): Promise<void> {
  const queue = [...mutants];
  const work = (sandbox: Sandbox) => async () => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const { file, line, code, kind, nth, compiled, tests } = mutant;
      const startedAt = performance.now();
      const isReached = tests.length > 0;
      const restore = sandbox.change(compiled, changedText(by.root, mutant));
      const found = isReached ? await judge(by, clean, sandbox) : { verdict: 'not run' as const, says: [] };
      restore();
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      done({ ...{ file, line, code, kind, nth, seconds }, ...found });
    }
  };
  await Promise.all(
    Array.from({ length: by.jobs }, (_, i) => isolated(by.root, i, (sandbox) => work(sandbox)())),
  );
}
