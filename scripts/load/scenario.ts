import { type Figures, isLatency, isTimed, type Metric } from './metrics.js';
import type { LoadOptions, ScenarioOption } from './options.js';
import type { ProcessGroup } from './process-group.js';
import type { RemoteTarget } from './remote-target.js';
import type { StageCounts, StageFigures } from './stages.js';
import type { Summary } from './statistics.js';
import type { Verdict } from './verdict.js';

/**
 * `ours`: the service. `limit`: the minimum that any server must do for the same work. `peer`: what a team
 * would use instead.
 */
export type Role = 'ours' | 'limit' | 'peer';

/** What a contender needs for a measurement. */
export interface Run {
  group: ProcessGroup;
  options: LoadOptions;
  /** The installation that runs already, if one is loaded. */
  remote?: RemoteTarget | undefined;
}

/** Figures of a measurement. */
export type Measured = Figures & {
  /** With `--stages`. */
  stages?: StageCounts;
  /** What else is to be told. */
  note?: string;
};

/** One line of a scenario's table. */
export interface Entry {
  name: string;
  role: Role;
  /** The section of the scenario's table, if it has several: `1,000 sockets`. */
  part?: string;
  /** Why it was not measured, e.g. not installed. */
  missing?: string;
  /** Sends when it is answered: a slow server is asked less often, so that its latencies are not judged. */
  throughput?: true;
}

/** Whether a contender was not measured because it failed, rather than because it is not installed. */
export const isFailure = ({ missing }: Pick<Result, 'missing'>) => missing?.startsWith('failed: ') ?? false;

/** Why a line's figure shows nothing about its contender; undefined if it does. */
export function unfitReason(line: Result, metric: Metric): string | undefined {
  if (line.missing !== undefined) return line.missing;
  if (line.void !== undefined && isTimed(metric)) return `void, ${line.void}`;
  return line.throughput && isLatency(metric) ? 'no latency of throughput is judged' : undefined;
}

/** How a line is named, and selected by `--only`. */
export const labelOf = ({ name, part }: Entry) => (part ? `${name}, ${part}` : name);

export interface Contender extends Entry {
  /**
   * Measures once. Processes that it starts in the group are stopped afterwards.
   * @returns figures; several if it measures repeatedly, each of which counts as a run
   */
  measure(run: Run): Promise<Measured | Figures[]>;
}

/** A contender's figures of all turns that count. */
export interface Result extends Entry {
  figures: Partial<Record<Metric, Summary>>;
  /** Turns that were measured, and why some of them do not count. */
  turns?: number;
  voided?: string[];
  /** Why no turn counts: the figures are of all, and nothing is judged by them. */
  void?: string;
  /** Of the turns that count. */
  notes?: string[];
  /** With `--stages`, of all turns that count. */
  stages?: StageFigures[];
}

export interface Scenario {
  name: string;
  title: string;
  /** Columns of its table, the first being its subject. */
  columns: Metric[];
  /** Options that change what it measures, beside those of all scenarios. */
  heeds: ScenarioOption[];
  /** Whether it can load an installation that runs already. */
  isRemote?: true;
  /** Turns, unless the options say otherwise; 3 by default. */
  runs?: number;
  /** About how long a turn of a line takes, s; by default the duration of a measurement and some seconds to start. */
  turnSeconds?(options: LoadOptions): number;
  contenders(options: LoadOptions): Contender[];
  verdicts(results: Result[], options: LoadOptions): Verdict[];
}
