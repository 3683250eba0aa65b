import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { InvalidArguments } from '../command/run-command.js';
import { isCpu, isLatency, isTimed, type Metric, metrics } from './metrics.js';
import { BASELINE_TURNS, commonOptions, isShort, type LoadOptions, type ScenarioOption } from './options.js';
import type { Report } from './report.js';
import { isFailure, labelOf, type Result, type Scenario } from './scenario.js';
import { differenceInterval, median } from './statistics.js';
import { formatFigure } from './table.js';
import type { Verdict } from './verdict.js';

/** Smallest tolerance, as a share of the figure before, of metrics that do not say how much they vary. */
const LEAST_TOLERANCE = 0.05;

/**
 * By which share of its value in the baseline a bound that was missed there may be missed further: as much as latencies, the
 * figures that vary most, may differ.
 */
const MISSED_TOLERANCE = 0.5;

/** A figure, against the same one of an earlier run. */
export interface Comparison {
  /** The line's name and part, as `--only` takes them. */
  line: string;
  /** Scenario, line and metric. */
  figure: string;
  before: string;
  now: string;
  /** In units of the metric: how much worse it may be. */
  tolerance?: number;
  /** How many times as long as before the machine took for its reference work. */
  pace?: number;
  outcome: 'within' | 'regressed' | 'not judged';
  /** Why it was not judged. */
  why?: string;
}

/** What a comparison needs of a run. */
type Compared = Omit<Report, 'verdicts'>;

/** Reads what `--json` or `--save-baseline` wrote. @param option what the file was given for @throws InvalidArguments */
export function readReports(option: string, file: string): Report[] {
  try {
    const reports = [JSON.parse(readFileSync(file, 'utf8')) as Report | Report[]].flat();
    if (reports.every((report) => report?.scenario && Array.isArray(report.results) && report.options))
      return reports;
  } catch (error) {
    throw new InvalidArguments([`${option}: ${(error as Error).message}`]);
  }
  throw new InvalidArguments([`${option}: ${file} was not written by --save-baseline or --json`]);
}

/** On what and how a run is measured. */
type Conditions = Pick<Report, 'options' | 'machine'>;

/** Why no figure of two runs can be compared; undefined if they can. */
function difference(now: Conditions, before: Conditions, heeds: ScenarioOption[]): string | undefined {
  if ((now.options.profile === undefined) !== (before.options.profile === undefined))
    return 'only one of both wrote profiles';
  for (const name of [...heeds, ...commonOptions]) {
    const [mine, earlier] = [now.options[name], before.options[name]];
    if (mine !== earlier)
      return `--${name} was ${earlier ?? 'not given'} in the baseline, now it is ${mine ?? 'not given'}`;
  }
  if (isShort(now.options) !== isShort(before.options))
    return `only one of both is a short run (--seconds ${now.options.seconds} without --save-baseline)`;
  if ((now.options.http === undefined) !== (before.options.http === undefined))
    return 'only one of both is of an installation that ran already';
  const machineOf = ({ machine: { cpu, cores, memoryGiB, node } }: Conditions) =>
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}`;
  return machineOf(now) === machineOf(before) ? undefined : `the baseline is of ${machineOf(before)}`;
}

function compareFigure(
  scenario: string,
  metric: Metric,
  now: Result,
  before: Result | undefined,
  pace: number,
): Comparison {
  const [mine, earlier] = [now.figures[metric], before?.figures[metric]];
  const shown = {
    line: labelOf(now),
    figure: `${[scenario, now.part, now.name].filter(Boolean).join(', ')}: ${metrics[metric].label}`,
    ...{ before: formatFigure(metric, earlier), now: formatFigure(metric, mine) },
  };
  const notJudged = (why: string): Comparison => ({ ...shown, outcome: 'not judged', why });
  if (!earlier) return notJudged('not in the baseline');
  if (!mine) return notJudged(now.missing ?? 'not measured');
  if (isTimed(metric) && (now.void !== undefined || before?.void !== undefined))
    return notJudged('void turns');
  const turns = Math.min(mine.runs.length, earlier.runs.length);
  if (turns < BASELINE_TURNS) return notJudged(`${turns} turns, at least ${BASELINE_TURNS} are needed`);
  // A slower machine raises all of CPU time, but only some of a latency: that regresses if it is worse with and without pace.
  const factors = isCpu(metric) ? [pace] : isTimed(metric) ? [1, pace] : [1];
  const excesses = factors.map((factor) => excessOf(metric, mine.runs, earlier.runs, factor));
  const [{ excess, tolerance }] = excesses.sort((a, b) => a.excess - b.excess) as [Excess];
  return { ...shown, tolerance, pace, outcome: excess > 0 ? 'regressed' : 'within' };
}

interface Excess {
  /** By how much a figure is worse than its tolerance allows. */
  excess: number;
  tolerance: number;
}

/** @param factor what the machine's pace makes of the figures before */
function excessOf(metric: Metric, mine: number[], earlier: number[], factor: number): Excess {
  const isHigherBetter = metrics[metric].better === 'higher';
  const before = earlier.map((value) => (isHigherBetter ? value / factor : value * factor));
  const worse = (isHigherBetter ? -1 : 1) * (median(mine) - median(before));
  const [low, high] = differenceInterval(mine, before);
  const { varies = LEAST_TOLERANCE } = metrics[metric];
  const tolerance = Math.max((high - low) / 2, varies * Math.abs(median(before)));
  return { excess: worse - tolerance, tolerance };
}

/**
 * How many times as long as before the machine took for its reference work, by the least of each run's turns: some take half as
 * long again in whatever run. 1 if that was not measured.
 */
function paceOf(now: Compared, before: Compared | undefined): number {
  const referencesOf = (run: Compared | undefined) =>
    run?.results.flatMap(({ figures }) => figures.reference?.runs ?? []) ?? [];
  const [mine, earlier] = [referencesOf(now), referencesOf(before)];
  return mine.length > 0 && earlier.length > 0 ? Math.min(...mine) / Math.min(...earlier) : 1;
}

/** Whether two results are of the same line. */
const isSame = (a: Result, b: Result) => a.name === b.name && a.part === b.part;

/** Metrics that are compared: those with a better direction, of what a line measured then or now. */
function comparedMetrics(now: Result, before: Result | undefined): Metric[] {
  return (Object.keys(metrics) as Metric[]).filter(
    (metric) =>
      metrics[metric].better &&
      !(now.throughput && isLatency(metric)) &&
      (now.figures[metric] || before?.figures[metric]),
  );
}

const oursOf = ({ results }: Compared) => results.filter(({ role }) => role === 'ours');

/** The lines of the service: those of now, and those of before that a run of all lines should have. */
function comparedLines(now: Compared, before: Compared | undefined): Result[] {
  const mine = oursOf(now);
  if (!before || now.options.only !== undefined) return mine;
  const gone = oursOf(before).filter((one) => !mine.some((result) => isSame(one, result)));
  return [...mine, ...gone.map((one) => ({ ...one, figures: {}, missing: 'not a line any more' }))];
}

/**
 * Why nothing of a scenario can be compared; undefined if it may be.
 * @param scenario.heeds options that change what is measured, beside those of all scenarios
 */
export function incomparable(
  baseline: Report[],
  { name, heeds }: Pick<Scenario, 'name' | 'heeds'>,
  now: Conditions,
): string | undefined {
  const before = baseline.find(({ scenario }) => scenario === name);
  if (!before) return `${name} is not in the baseline`;
  const turns = Math.max(
    0,
    ...oursOf(before).flatMap(({ figures }) => Object.values(figures).map(({ runs }) => runs.length)),
  );
  return turns < BASELINE_TURNS
    ? `${name} has ${turns} of at least ${BASELINE_TURNS} turns in the baseline`
    : difference(now, before, heeds);
}

/**
 * Compares every figure of the service that can be worse with that of an earlier run.
 * @param heeds as of `incomparable`
 */
export function compareWith(baseline: Report[], now: Compared, heeds: ScenarioOption[]): Comparison[] {
  const before = baseline.find(({ scenario }) => scenario === now.scenario);
  const reason = incomparable(baseline, { name: now.scenario, heeds }, now);
  const pace = paceOf(now, before);
  return comparedLines(now, before).flatMap((result) => {
    const earlier = before?.results.find((one) => isSame(one, result));
    return comparedMetrics(result, earlier).map((metric) => {
      const compared = compareFigure(now.scenario, metric, result, earlier, pace);
      return reason ? { ...compared, outcome: 'not judged' as const, why: reason } : compared;
    });
  });
}

/** A missed bound that fails. What must be 0, such as losses, fails always. */
const fails = ({ outcome, missedBefore }: Verdict) => outcome === 'misses' && !missedBefore;
const failsAlways = (verdict: Verdict) => fails(verdict) && verdict.bound === 0;
const mayFailByChance = (verdict: Verdict) => fails(verdict) && verdict.bound !== 0;

export const isMissed = ({ verdicts, comparisons = [] }: Report) =>
  verdicts.some(fails) || comparisons.some(({ outcome }) => outcome === 'regressed');

export const isUnjudged = (comparisons: Comparison[]) =>
  comparisons.every(({ outcome }) => outcome === 'not judged');

/** Whether a bound is missed about as far as before, if it was. */
function isAsBefore({ value, bound }: Verdict, before: Verdict | undefined): boolean {
  if (before?.outcome !== 'misses' || before.value === undefined || value === undefined) return false;
  const further = value > bound ? value - before.value : before.value - value;
  return further <= MISSED_TOLERANCE * Math.abs(before.value);
}

/**
 * Marks the bounds that the baseline missed about as far, which do not fail: that figures are no worse is judged by
 * comparison, so there has to be one.
 */
export function markMissedBefore(
  baseline: Report[],
  { scenario, verdicts }: Report,
  comparisons: Comparison[],
): Verdict[] {
  if (isUnjudged(comparisons)) return verdicts;
  const before = baseline.find((one) => one.scenario === scenario)?.verdicts ?? [];
  const earlier = new Map(before.map((verdict) => [verdict.goal, verdict]));
  return verdicts.map((one) =>
    mayFailByChance(one) && isAsBefore(one, earlier.get(one.goal)) ? { ...one, missedBefore: true } : one,
  );
}

/**
 * How to measure again what may have failed by chance: lines of which a figure is worse, or all if a bound is missed that the
 * baseline kept. @returns undefined if there is neither, if nothing could be compared, or if the run fails in any case
 */
export function doubtsOf({
  verdicts,
  comparisons = [],
  results,
  options,
}: Report): { options: LoadOptions; why: string } | undefined {
  if (isUnjudged(comparisons) || verdicts.some(failsAlways) || results.some(isFailure)) return undefined;
  if (verdicts.some(mayFailByChance))
    return { options, why: 'a bound is missed that the baseline kept, or missed by less' };
  const worse = comparisons.filter(({ outcome }) => outcome === 'regressed').map(({ line }) => line);
  if (worse.length === 0) return undefined;
  const lines = [...new Set(worse)];
  return { options: { ...options, only: lines.join('|') }, why: `worse than before: ${lines.join('; ')}` };
}

/**
 * What remains of a run's failures once they have been measured again: among hundreds of figures some are worse by
 * chance, but hardly the same ones twice. What the second measurement alone loses, or fails to measure, counts.
 */
export function confirm(first: Report, again: Report): Report {
  const isWithin = ({ figure }: Comparison) =>
    again.comparisons?.some((one) => one.figure === figure && one.outcome === 'within');
  const failureOf = (result: Result) => again.results.find((one) => isSame(one, result) && isFailure(one));
  const verdictOf = (one: Verdict): Verdict => {
    const second = again.verdicts.find(({ goal }) => goal === one.goal);
    if (second && failsAlways(second)) return second;
    return second?.outcome === 'holds' && mayFailByChance(one) && one.value !== undefined
      ? { ...second, firstValue: one.value }
      : one;
  };
  return {
    ...first,
    results: first.results.map((result) => failureOf(result) ?? result),
    comparisons: first.comparisons?.map((one) =>
      one.outcome === 'regressed' && isWithin(one) ? { ...one, outcome: 'within' } : one,
    ),
    verdicts: first.verdicts.map(verdictOf),
  };
}

/** Each regression, a summary, and the reasons for what was not judged, with how many figures each is of. */
function summaryOf(comparisons: Comparison[]) {
  const of = (outcome: Comparison['outcome']) => comparisons.filter((one) => one.outcome === outcome);
  const reasons = new Map<string, number>();
  for (const { why = '' } of of('not judged')) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const [within, regressed] = [of('within'), of('regressed')];
  return {
    regressed: regressed.map(
      ({ figure, before, now, tolerance = 0, pace = 1 }) =>
        `${figure}: ${before} before, ${now} now (tolerance ${tolerance.toFixed(2)}${pace === 1 ? '' : `, machine ${pace.toFixed(2)} times as slow`})`,
    ),
    total: `baseline: ${within.length} figures within their tolerance, ${regressed.length} regressed`,
    notJudged: [...reasons].map(([why, count]) => `${count} figure${count === 1 ? '' : 's'}: ${why}`),
  };
}

/** The same for a terminal. */
export function comparisonLines(comparisons: Comparison[]): string[] {
  const { regressed, total, notJudged } = summaryOf(comparisons);
  return [
    ...regressed.map((text) => styleText('red', `regressed   ${text}`)),
    total,
    ...notJudged.map((text) => styleText('gray', `not judged  ${text}`)),
  ];
}
