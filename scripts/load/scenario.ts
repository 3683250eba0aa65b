import type { Figures, Metric } from './metrics.js';
import type { LoadOptions } from './options.js';
import type { ProcessGroup } from './process-group.js';
import type { Summary } from './statistics.js';

/**
 * `ours`: the service. `limit`: the least that any server would have to do for the same work.
 * `peer`: what a team would use instead.
 */
export type Role = 'ours' | 'limit' | 'peer';

/** What a run works with: its options, and a stage for everything it starts. */
export interface Run {
  stage: ProcessGroup;
  options: LoadOptions;
}

/** One of those that are measured beside each other. */
export interface Contender {
  name: string;
  role: Role;
  /** What of a scenario this is a row of, where it has several parts: `1,000 sockets`. */
  part?: string;
  /** Why it cannot be run on this machine, where it cannot. */
  missing?: string | undefined;
  /** Starts what it needs on the stage, measures once, and leaves the cleaning up to the stage. */
  measure(run: Run): Promise<Figures>;
}

/** A contender over all runs. */
export interface Result {
  name: string;
  role: Role;
  part?: string;
  missing?: string;
  figures: Partial<Record<Metric, Summary>>;
}

/** Something to be reached, judged by the medians of one run. */
export interface Verdict {
  goal: string;
  /** What came out; undefined where a contender was missing or failed. */
  value: number | undefined;
  bound: number;
  holds: boolean;
}

export interface Scenario {
  name: string;
  /** One line of what is done. */
  title: string;
  /** Columns of its table, the first being what it is about. */
  columns: Metric[];
  contenders(options: LoadOptions): Contender[];
  verdicts?(results: Result[], options: LoadOptions): Verdict[];
}

/** The median of a contender's figure, by name and part. */
export function medianOf(results: Result[], name: string, metric: Metric, part?: string): number | undefined {
  return results.find((r) => r.name === name && (part === undefined || r.part === part))?.figures[metric]
    ?.median;
}

/** One verdict on a ratio that must not be larger than its bound. */
export function atMost(goal: string, value: number | undefined, bound: number): Verdict {
  return { goal, value, bound, holds: value !== undefined && value <= bound };
}

/** One verdict on a ratio that must not be smaller than its bound. */
export function atLeast(goal: string, value: number | undefined, bound: number): Verdict {
  return { goal, value, bound, holds: value !== undefined && value >= bound };
}

/** `a / b`, where both are known. */
export function ratio(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b === 0 ? undefined : a / b;
}
