import { createProgress } from '../command/progress.js';
import { isMetric, isTimed } from './metrics.js';
import { BASELINE_TURNS, FULL_SECONDS, isCompared, type LoadOptions } from './options.js';
import { ProcessGroup } from './process-group.js';
import { referenceWork } from './reference-work.js';
import type { RemoteTarget } from './remote-target.js';
import {
  type Contender,
  type Entry,
  labelOf,
  type Measured,
  type Result,
  type Scenario,
} from './scenario.js';
import { addStages, stageFigures } from './stages.js';
import { summarise } from './statistics.js';
import { countFault, voidReason } from './void-turn.js';

/** Turns by default. */
const RUNS = 3;

async function measureOnce(
  contender: Contender,
  options: LoadOptions,
  remote: RemoteTarget | undefined,
): Promise<Measured[]> {
  const group = new ProcessGroup(options.profile);
  try {
    const turns = [await contender.measure({ group, options, remote })].flat();
    return remote?.isHere ? turns.map(({ others: _, ...turn }) => turn) : turns;
  } finally {
    await group.end();
  }
}

/** Why no turn's counts can be right; undefined if those of any may be. */
function faultOf(runs: Measured[]): string | undefined {
  const faults = runs.map(countFault);
  return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
}

/** What all turns of a line show: medians, of those that count. One whose counts are never right has failed. */
export function resultOf(
  { name, role, part, missing, throughput }: Entry,
  runs: Measured[],
  failure: string | undefined,
): Result {
  const reasons = runs.map(voidReason);
  const valid = runs.filter((_, i) => reasons[i] === undefined);
  const counted = valid.length > 0 ? valid : runs;
  const figures: Result['figures'] = {};
  for (const metric of new Set(runs.flatMap((run) => Object.keys(run).filter(isMetric)))) {
    const values = (isTimed(metric) ? counted : runs)
      .map((run) => run[metric])
      .filter((value) => value !== undefined);
    if (values.length > 0) figures[metric] = summarise(values);
  }
  const fault = faultOf(runs);
  const reason = missing ?? failure ?? (fault && `failed: ${fault}`);
  const notes = counted.flatMap((run) => run.note ?? []);
  const stages = stageFigures(addStages(counted.flatMap(({ stages: counts }) => (counts ? [counts] : []))));
  return {
    ...{ name, role, part, missing: reason, ...(throughput && { throughput }) },
    ...{ figures, turns: runs.length, voided: reasons.filter((reason) => reason !== undefined) },
    ...(valid.length === 0 && runs.length > 0 && { void: reasons[0] }),
    ...(notes.length > 0 && { notes }),
    ...(stages.length > 0 && { stages }),
  };
}

/** What makes a run shorter. */
const SHORTER = `--only, --runs 1, --seconds 1 (below ${FULL_SECONDS} no bound is judged, unless builds are compared)`;

/** Time to start a server, fill it and stop it, s. */
const START_SECONDS = 10;

/** About how long a turn takes, s. */
const turnSecondsOf = (scenario: Scenario, options: LoadOptions): number =>
  scenario.turnSeconds?.(options) ?? options.seconds + START_SECONDS;

/** A length of time, as people say it. */
const about = (seconds: number): string =>
  seconds < 90 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} min`;

/** Tells how far a scenario is: a bar on a terminal, else plain lines, each with the time that is left. */
function createAccount(name: string, turns: number, turnSeconds: number) {
  const progress = createProgress(turns, name);
  const started = performance.now();
  let done = 0;
  const left = () => {
    const measured = (performance.now() - started) / 1_000 / done;
    // Void turns that are made again were not planned: while one is under way, that one is left.
    return about(Math.max(1, turns - done) * (done > 0 ? measured : turnSeconds));
  };
  return {
    show(text: string): void {
      if (process.stderr.isTTY) progress.show(text);
      else process.stderr.write(`${name}: ${text} (${left()} left)\n`);
    },
    advance(): void {
      done += 1;
      progress.advance(1);
    },
    stop: () => progress.stop(),
  };
}

function turnsOf(scenario: Scenario, options: LoadOptions): number {
  return options.runs ?? scenario.runs ?? (isCompared(options) ? BASELINE_TURNS : RUNS);
}

/** A line, and what has been measured of it so far. */
interface MeasuredLine {
  contender: Contender;
  runs: Measured[];
  failure: string | undefined;
}

/** Measures a line once more. One that fails is reported. */
async function takeTurn(
  line: MeasuredLine,
  options: LoadOptions,
  stopped: () => boolean,
  remote: RemoteTarget | undefined,
): Promise<void> {
  try {
    const reference = isCompared(options) && !remote ? { reference: referenceWork() } : {};
    const turns = await measureOnce(line.contender, options, remote);
    line.runs.push(...turns.map((turn) => ({ ...turn, ...reference })));
  } catch (error) {
    const { message } = error as Error;
    line.failure = `failed: ${message}`;
    if (!stopped()) process.stderr.write(`${labelOf(line.contender)}: ${message}\n`);
  }
}

/** Whether turns that count are lacking, because some were void. */
const lacksTurns = ({ runs, failure }: MeasuredLine, wanted: number) =>
  failure === undefined && runs.filter((run) => voidReason(run) === undefined).length < wanted;

/** The contenders that `--only` selects; by default all, but no peers where builds are compared. */
export function contendersOf(scenario: Scenario, options: LoadOptions): Contender[] {
  const { only } = options;
  const wanted = only?.toLowerCase().split('|') ?? [''];
  return scenario
    .contenders(options)
    .filter(
      (contender) =>
        wanted.some((text) => labelOf(contender).toLowerCase().includes(text)) &&
        (only !== undefined || !isCompared(options) || contender.role !== 'peer'),
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
  remote?: RemoteTarget,
): Promise<Result[]> {
  const entries = contendersOf(scenario, options).map(
    (contender): MeasuredLine => ({ contender, runs: [], failure: undefined }),
  );
  const present = entries.filter(({ contender }) => contender.missing === undefined);
  const runs = turnsOf(scenario, options);
  // Where builds are compared, so many have to count: void ones are made again, each once at most.
  const more = isCompared(options) ? runs : 0;
  const turns = runs * present.length;
  const turnSeconds = turnSecondsOf(scenario, options);
  const plan = `${present.length} lines, ${runs} turns of each, ${about(turns * turnSeconds)}`;
  process.stderr.write(`${scenario.name}: ${plan}; less with ${SHORTER}\n`);
  const progress = createAccount(scenario.name, turns, turnSeconds);
  try {
    for (let i = 0; i < runs + more; i += 1) {
      for (const entry of present) {
        if (stopped() || (i >= runs && !lacksTurns(entry, runs))) continue;
        progress.show(`${i < runs ? `turn ${i + 1} of ${runs}` : 'again'}: ${labelOf(entry.contender)}`);
        await takeTurn(entry, options, stopped, remote);
        progress.advance();
      }
    }
  } finally {
    progress.stop();
  }
  return entries.map(({ contender, runs, failure }) => resultOf(contender, runs, failure));
}
