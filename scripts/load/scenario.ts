import { CLIENTS_TOO_BUSY, CLIENTS_TOO_LATE, type Figures, type Metric } from './metrics.js';
import type { LoadOptions } from './options.js';
import type { ProcessGroup } from './process-group.js';
import type { Summary } from './statistics.js';
import type { PlottedSecond } from './timeline.js';
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
}

/** Figures of a measurement, and its seconds in order where a plot shows them. */
export type Measured = Figures & { timeline?: PlottedSecond[] };

/** One line of a scenario's table. */
export interface Entry {
  name: string;
  role: Role;
  /** The section of the scenario's table, if it has several: `1,000 sockets`. */
  part?: string;
  /** Why it was not measured, e.g. not installed. */
  missing?: string;
}

export interface Contender extends Entry {
  /**
   * Measures once. Processes that it starts in the group are stopped afterwards.
   * @returns figures; several if it measures repeatedly, each of which counts as a run
   */
  measure(run: Run): Promise<Measured | Figures[]>;
}

/** A contender's figures of all runs. */
export interface Result extends Entry {
  figures: Partial<Record<Metric, Summary>>;
  /** Of the last run. */
  timeline?: PlottedSecond[];
}

export interface Scenario {
  name: string;
  title: string;
  /** Columns of its table, the first being its subject. */
  columns: Metric[];
  /** Turns, unless the options say otherwise; 3 by default. */
  runs?: number;
  contenders(options: LoadOptions): Contender[];
  verdicts(results: Result[], options: LoadOptions): Verdict[];
}

/** Whether rate and latency are those of the clients: they had no time, or sent late. */
export function limitedByClients({ figures: { clients, late, p99 } }: Result): boolean {
  if (clients && clients.median > CLIENTS_TOO_BUSY) return true;
  return late !== undefined && p99 !== undefined && late.median > p99.median * CLIENTS_TOO_LATE;
}
