import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { InvalidArguments } from '../command/run-command.js';
import { isLatency, isTimed, type Metric, metrics } from './metrics.js';
import { type LoadOptions, sizeOptions } from './options.js';
import type { Report } from './report/page.js';
import { labelOf, type Result } from './scenario.js';
import { differenceInterval, median } from './statistics.js';
import { formatFigure } from './table.js';
import type { Verdict } from './verdict.js';

/** Fewest turns, before and now, from whose spread a tolerance is taken. */
export const BASELINE_TURNS = 5;

/** Smallest tolerance, as a share of the figure before: two runs of the same build differ by as much. */
const LEAST_TOLERANCE = 0.05;

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
  outcome: 'within' | 'regressed' | 'not judged';
  /** Why it was not judged. */
  why?: string;
}

/** What a comparison needs of a run. */
type Compared = Omit<Report, 'verdicts'>;

/** Reads what `--json` wrote earlier. @param option what the file was given for @throws InvalidArguments */
export function readReports(option: string, file: string): Report[] {
  try {
    const reports = [JSON.parse(readFileSync(file, 'utf8')) as Report | Report[]].flat();
    if (reports.every((report) => report?.scenario && Array.isArray(report.results) && report.options))
      return reports;
  } catch (error) {
    throw new InvalidArguments([`${option}: ${(error as Error).message}`]);
  }
  throw new InvalidArguments([`${option}: ${file} was not written by --json`]);
}

/** Why no figure of two runs can be compared; undefined if they can. */
function difference(now: Compared, before: Compared): string | undefined {
  for (const name of sizeOptions) {
    const [mine, earlier] = [now.options[name], before.options[name]];
    if (mine !== earlier)
      return `--${name} was ${earlier ?? 'not given'} in the baseline, now it is ${mine ?? 'not given'}`;
  }
  if ((now.options.http === undefined) !== (before.options.http === undefined))
    return 'only one of both is of an installation that ran already';
  const machineOf = ({ machine: { cpu, cores, memoryGiB, node } }: Compared) =>
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}`;
  return machineOf(now) === machineOf(before) ? undefined : `the baseline is of ${machineOf(before)}`;
}

function compareFigure(
  scenario: string,
  metric: Metric,
  now: Result,
  before: Result | undefined,
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
  const sign = metrics[metric].better === 'higher' ? -1 : 1;
  const worse = sign * (median(mine.runs) - median(earlier.runs));
  const [low, high] = differenceInterval(mine.runs, earlier.runs);
  const spread = (high - low) / 2;
  const tolerance = Math.max(spread, LEAST_TOLERANCE * Math.abs(earlier.median));
  return { ...shown, tolerance, outcome: worse > tolerance ? 'regressed' : 'within' };
}

/** Whether two results are of the same line. */
export const isSame = (a: Result, b: Result) => a.name === b.name && a.part === b.part;

/** Metrics that are compared: those with a better direction, of what a line measured then or now. */
function comparedMetrics(now: Result, before: Result | undefined): Metric[] {
  return (Object.keys(metrics) as Metric[]).filter(
    (metric) =>
      metrics[metric].better &&
      !(now.throughput && isLatency(metric)) &&
      (now.figures[metric] || before?.figures[metric]),
  );
}

/** Compares every figure of the service that can be worse with that of an earlier run. */
export function compareWith(baseline: Report[], now: Compared): Comparison[] {
  const before = baseline.find(({ scenario }) => scenario === now.scenario);
  const reason = before ? difference(now, before) : `${now.scenario} is not in the baseline`;
  const ours = now.results.filter(({ role }) => role === 'ours');
  return ours.flatMap((result) => {
    const earlier = before?.results.find((one) => isSame(one, result));
    return comparedMetrics(result, earlier).map((metric) => {
      const compared = compareFigure(now.scenario, metric, result, earlier);
      return reason ? { ...compared, outcome: 'not judged' as const, why: reason } : compared;
    });
  });
}

/** What a comparison says of a run, and its bounds. */
type Judged = Pick<Report, 'verdicts' | 'comparisons'>;

/** A missed bound that fails. What must be 0, such as losses, is never excused. */
const fails = ({ outcome, excuse }: Verdict) => outcome === 'misses' && excuse === undefined;
const mayBeExcused = (verdict: Verdict) => fails(verdict) && verdict.bound > 0;

export const hasFailed = ({ verdicts, comparisons = [] }: Judged) =>
  verdicts.some(fails) || comparisons.some(({ outcome }) => outcome === 'regressed');

/**
 * Excuses the bounds that the baseline missed, too: that figures are no worse is judged by comparison, so there has to
 * be one.
 */
export function excuseMissedBefore(
  baseline: Report[],
  { scenario, verdicts }: Report,
  comparisons: Comparison[],
): Verdict[] {
  if (comparisons.every(({ outcome }) => outcome === 'not judged')) return verdicts;
  const before = baseline.find((one) => one.scenario === scenario)?.verdicts ?? [];
  const missed = new Set(before.filter(({ outcome }) => outcome === 'misses').map(({ goal }) => goal));
  return verdicts.map((one) =>
    mayBeExcused(one) && missed.has(one.goal) ? { ...one, excuse: 'missed in the baseline, too' } : one,
  );
}

/**
 * The options for measuring again what fails: lines of which a figure is worse, or all if a bound is missed that the
 * baseline kept. @returns undefined if there is neither
 */
export function optionsAgain({ verdicts, comparisons = [], options }: Report): LoadOptions | undefined {
  if (verdicts.some(mayBeExcused)) return options;
  const lines = comparisons.filter(({ outcome }) => outcome === 'regressed').map(({ line }) => line);
  return lines.length > 0 ? { ...options, only: [...new Set(lines)].join('|') } : undefined;
}

/**
 * What remains of a run's failures once they have been measured again: among hundreds of figures some are worse by
 * chance, but hardly the same ones twice.
 */
export function confirm<T extends Judged>(first: T, again: Judged): T {
  const isWithin = ({ figure }: Comparison) =>
    again.comparisons?.some((one) => one.figure === figure && one.outcome === 'within');
  const holds = ({ goal }: Verdict) =>
    again.verdicts.some((one) => one.goal === goal && one.outcome === 'holds');
  return {
    ...first,
    comparisons: first.comparisons?.map((one) =>
      one.outcome === 'regressed' && isWithin(one) ? { ...one, outcome: 'within' } : one,
    ),
    verdicts: first.verdicts.map((one) =>
      mayBeExcused(one) && holds(one) ? { ...one, excuse: 'held when measured again' } : one,
    ),
  };
}

/** Each regression, a summary, and the reasons for what was not judged, with how many figures each is of. */
export function summaryOf(comparisons: Comparison[]) {
  const of = (outcome: Comparison['outcome']) => comparisons.filter((one) => one.outcome === outcome);
  const reasons = new Map<string, number>();
  for (const { why = '' } of of('not judged')) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const [within, regressed] = [of('within'), of('regressed')];
  return {
    regressed: regressed.map(
      ({ figure, before, now, tolerance = 0 }) =>
        `${figure}: ${before} before, ${now} now (tolerance ${tolerance.toFixed(2)})`,
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
