import { createProgress } from '../command/progress.js';
import { BASELINE_TURNS } from './baseline.js';
import { encode, merge } from './latency.js';
import { isMetric } from './metrics.js';
import type { LoadOptions } from './options.js';
import { ProcessGroup } from './process-group.js';
import type { Contender, Measured, Result, Scenario } from './scenario.js';
import { summarise } from './statistics.js';
import { voidReason } from './void-turn.js';

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
  { name, role, part, missing, throughput }: Contender,
  runs: Measured[],
  failure: string | undefined,
): Result {
  const reasons = runs.map(voidReason);
  const valid = runs.filter((_, i) => reasons[i] === undefined);
  const counted = valid.length > 0 ? valid : runs;
  const figures: Result['figures'] = {};
  for (const metric of new Set(counted.flatMap((run) => Object.keys(run).filter(isMetric)))) {
    const values = counted.map((run) => run[metric]).filter((value) => value !== undefined);
    if (values.length > 0) figures[metric] = summarise(values);
  }
  const timeline = counted.at(-1)?.timeline;
  const latencies = counted.flatMap((run) => run.latencies ?? []);
  return {
    ...{ name, role, part, missing: missing ?? failure, ...(throughput && { throughput }) },
    ...{ figures, turns: runs.length, voided: reasons.filter((reason) => reason !== undefined) },
    ...(valid.length === 0 && runs.length > 0 && { void: reasons[0] }),
    ...(timeline && { timeline }),
    ...(latencies.length > 0 && { latencies: encode(merge(latencies)) }),
  };
}

/** Time to start a server, fill it and stop it, s. */
const START_SECONDS = 10;

/** About how long some turns take. */
function about(scenario: Scenario, options: LoadOptions, turns: number): string {
  const each = scenario.turnSeconds?.(options) ?? options.seconds + START_SECONDS;
  return `about ${Math.ceil((turns * each) / 60)} min`;
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
  const time = about(scenario, options, runs * present.length);
  if (process.stderr.isTTY)
    process.stderr.write(`${scenario.name}: ${present.length} lines, ${runs} turns of each, ${time}\n`);
  try {
    for (let i = 0; i < runs; i += 1) {
      for (const entry of present) {
        if (stopped()) continue;
        progress.show(`turn ${i + 1} of ${runs}: ${label(entry.contender)}`);
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
