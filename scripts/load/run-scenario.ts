import { createProgress } from '../progress.js';
import type { Figures, Metric } from './metrics.js';
import type { LoadOptions } from './options.js';
import { createProcessGroup } from './process-group.js';
import type { Contender, Result, Scenario } from './scenario.js';
import { summarise } from './statistics.js';

const label = ({ name, part }: Contender) => (part ? `${name}, ${part}` : name);

/** One run of one contender, on a stage of its own. */
async function once(contender: Contender, options: LoadOptions): Promise<Figures> {
  const stage = createProcessGroup(options.profile);
  try {
    return await contender.measure({ stage, options });
  } finally {
    await stage.end();
  }
}

function summary(contender: Contender, runs: Figures[], failure: string | undefined): Result {
  const figures: Result['figures'] = {};
  for (const metric of new Set(runs.flatMap((run) => Object.keys(run) as Metric[]))) {
    const values = runs.map((run) => run[metric]).filter((value) => value !== undefined);
    if (values.length > 0) figures[metric] = summarise(values);
  }
  const missing = contender.missing ?? failure;
  return {
    name: contender.name,
    role: contender.role,
    ...(contender.part === undefined ? {} : { part: contender.part }),
    ...(missing === undefined ? {} : { missing }),
    figures,
  };
}

/** What a filter of names, `--only`, leaves of the contenders. */
function chosen(contenders: Contender[], only: string | undefined): Contender[] {
  if (only === undefined) return contenders;
  const wanted = only.toLowerCase().split('|');
  return contenders.filter((contender) =>
    wanted.some((text) => label(contender).toLowerCase().includes(text)),
  );
}

/**
 * Runs all contenders in turn, as often as wanted, so that a slow minute of the machine hits all of them.
 * One that fails is named with its reason; the others go on.
 *
 * @param stopped asked between runs
 */
export async function runScenario(
  scenario: Scenario,
  options: LoadOptions,
  stopped: () => boolean,
): Promise<Result[]> {
  const contenders = chosen(scenario.contenders(options), options.only);
  const runs = contenders.map((): Figures[] => []);
  const failures = contenders.map((): string | undefined => undefined);
  const present = contenders.filter(({ missing }) => missing === undefined).length;
  const progress = createProgress(options.runs * present, scenario.name);
  try {
    for (let i = 0; i < options.runs; i += 1) {
      for (const [k, contender] of contenders.entries()) {
        if (contender.missing !== undefined || stopped()) continue;
        try {
          runs[k]?.push(await once(contender, options));
        } catch (error) {
          failures[k] = `failed: ${(error as Error).message}`;
          if (!stopped()) process.stderr.write(`${label(contender)}: ${(error as Error).message}\n`);
        }
        progress.advance(1);
      }
    }
  } finally {
    progress.stop();
  }
  return contenders.map((contender, k) => summary(contender, runs[k] ?? [], failures[k]));
}
