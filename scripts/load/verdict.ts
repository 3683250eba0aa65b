import { type Metric, metrics } from './metrics.js';
import { FULL_SECONDS, isShort, type LoadOptions } from './options.js';
import { type Result, unfitReason } from './scenario.js';

/** A figure, or why there is none. */
export type Value = number | { why: string };

/** A goal, judged by the medians of one run. */
export interface Verdict {
  goal: string;
  value?: number;
  bound: number;
  outcome: 'holds' | 'misses' | 'not judged';
  /** Why it was not judged. */
  why?: string;
  /** Missed in the baseline, too: not a failure. */
  missedBefore?: true;
  /** What missed the bound the first time; `value` is of the second measurement. */
  firstValue?: number;
}

/** Sizes of a measurement that an option changes. */
type Sizes = Partial<Pick<LoadOptions, 'members' | 'rooms' | 'streams' | 'documents' | 'rate'>>;

/** Computes with figures. @returns why, if one of them is not known or the result is no number */
export function combine(values: Value[], compute: (...numbers: number[]) => number): Value {
  const numbers: number[] = [];
  for (const value of values) {
    if (typeof value !== 'number') return value;
    numbers.push(value);
  }
  const result = compute(...numbers);
  return Number.isFinite(result) ? result : { why: 'divided by zero' };
}

export function ratio(a: Value, b: Value): Value {
  return combine([a, b], (dividend, divisor) => dividend / divisor);
}

/** The median of a contender's figure, by name and part. */
export function medianOf(results: Result[], name: string, metric: Metric, part?: string): Value {
  const label = part === undefined ? name : `${name}, ${part}`;
  const result = results.find((one) => one.name === name && (part === undefined || one.part === part));
  if (!result) return { why: `${label}: left out` };
  const reason = unfitReason(result, metric);
  if (reason !== undefined) return { why: `${label}: ${reason}` };
  return result.figures[metric]?.median ?? { why: `${label}: no figure for ${metrics[metric].label}` };
}

function judge(goal: string, value: Value, bound: number, holds: (value: number) => boolean): Verdict {
  if (typeof value !== 'number') return { goal, bound, outcome: 'not judged', why: value.why };
  return { goal, value, bound, outcome: holds(value) ? 'holds' : 'misses' };
}

export function atMost(goal: string, value: Value, bound: number): Verdict {
  return judge(goal, value, bound, (number) => number <= bound);
}

export function atLeast(goal: string, value: Value, bound: number): Verdict {
  return judge(goal, value, bound, (number) => number >= bound);
}

export function notJudged(verdicts: Verdict[], why: string): Verdict[] {
  return verdicts.map((verdict) => ({ ...verdict, outcome: 'not judged', why }));
}

/** That nothing was lost by the service, in no turn that counts. */
export function nothingLost(results: Result[]): Verdict {
  const ours = results.filter(({ role }) => role === 'ours');
  const lost = ours.map(({ name, part, figures }) =>
    combine([medianOf(results, name, 'lost', part)], (median) => figures.lost?.max ?? median),
  );
  const known = lost.filter((value) => typeof value === 'number');
  return atMost(
    'most deliveries, answers or connections that a turn lost',
    known.length > 0 ? Math.max(...known) : (lost[0] ?? { why: 'this service: left out' }),
    0,
  );
}

/** Verdicts whose bounds are meant for these sizes: at others they are not judged. */
export function onlyAt(options: LoadOptions, sizes: Sizes, verdicts: Verdict[]): Verdict[] {
  for (const [name, size] of Object.entries(sizes)) {
    const given = options[name as keyof Sizes];
    if (given !== undefined && given !== size)
      return notJudged(verdicts, `the bound is meant for --${name} ${size}, not ${given}`);
  }
  return verdicts;
}

/** Verdicts on what takes a time to show: after less than that they are not judged. */
export function onlyFrom(
  options: LoadOptions,
  name: 'seconds' | 'minutes',
  least: number,
  verdicts: Verdict[],
): Verdict[] {
  const given = options[name];
  if (given === undefined || given >= least) return verdicts;
  return notJudged(verdicts, `the bound is meant for --${name} ${least} or more, not ${given}`);
}

/**
 * Verdicts, unless the measurement was too short: that shows how programs start. What must be 0, such as
 * losses, needs no length.
 */
export function unlessUnfit(options: LoadOptions, verdicts: Verdict[]): Verdict[] {
  const { seconds } = options;
  if (!isShort(options)) return verdicts;
  const why = `${seconds} s are too short: judged from --seconds ${FULL_SECONDS} on, or with --save-baseline or --baseline`;
  return verdicts.flatMap((verdict) => (verdict.bound === 0 ? verdict : notJudged([verdict], why)));
}
