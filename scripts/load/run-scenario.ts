import { createProgress } from '../command/progress.js';
import { BASELINE_TURNS } from './baseline.js';
import { isMetric } from './metrics.js';
import type { LoadOptions } from './options.js';
import { ProcessGroup } from './process-group.js';
import type { Contender, Measured, Result, Scenario } from './scenario.js';
import { summarise } from './statistics.js';

/** Turns by default. */
const RUNS = 3;

const label = ({ name, part }: Contender) => (part ? `${name}, ${part}` : name);

async function measureOnce(contender: Contender, options: LoadOptions): Promise<Measured[]> {
  const group = new ProcessGroup(options.profile);
  try {
    return [await contender.measure({ group, options })].flat();
  } finally {
    await group.end();
  }
}

function resultOf(
  { name, role, part, missing }: Contender,
  runs: Measured[],
  failure: string | undefined,
): Result {
  const figures: Result['figures'] = {};
  for (const metric of new Set(runs.flatMap((run) => Object.keys(run).filter(isMetric)))) {
    const values = runs.map((run) => run[metric]).filter((value) => value !== undefined);
    if (values.length > 0) figures[metric] = summarise(values);
  }
  const timeline = runs.at(-1)?.timeline;
  return { name, role, part, missing: missing ?? failure, figures, ...(timeline && { timeline }) };
}

function turnsOf(scenario: Scenario, { runs, baseline }: LoadOptions): number {
  return runs ?? scenario.runs ?? (baseline === undefined ? RUNS : BASELINE_TURNS);
}

/** The contenders that `--only` selects. */
function select(contenders: Contender[], only: string | undefined): Contender[] {
  const wanted = only?.toLowerCase().split('|') ?? [''];
  return contenders.filter((contender) =>
    wanted.some((text) => label(contender).toLowerCase().includes(text)),
  );
}

/**
 * Runs all contenders in turn, so that a slow period of the machine affects all of them. One that fails is
 * reported, and the others continue.
 *
 * @param stopped checked between runs
 */
export async function runScenario(
  scenario: Scenario,
  options: LoadOptions,
  stopped: () => boolean,
): Promise<Result[]> {
  const entries = select(scenario.contenders(options), options.only).map((contender) => ({
    contender,
    runs: [] as Measured[],
    failure: undefined as string | undefined,
  }));
  const present = entries.filter(({ contender }) => contender.missing === undefined);
  const runs = turnsOf(scenario, options);
  const progress = createProgress(runs * present.length, scenario.name);
  try {
    for (let i = 0; i < runs; i += 1) {
      for (const entry of present) {
        if (stopped()) continue;
        try {
          entry.runs.push(...(await measureOnce(entry.contender, options)));
        } catch (error) {
          const { message } = error as Error;
          entry.failure = `failed: ${message}`;
          if (!stopped()) process.stderr.write(`${label(entry.contender)}: ${message}\n`);
        }
        progress.advance(1);
      }
    }
  } finally {
    progress.stop();
  }
  return entries.map(({ contender, runs, failure }) => resultOf(contender, runs, failure));
}
