import type { Comparison } from './baseline.js';
import type { Machine } from './machine.js';
import type { Metric } from './metrics.js';
import type { LoadOptions } from './options.js';
import type { Provenance } from './provenance.js';
import type { Result } from './scenario.js';
import type { Verdict } from './verdict.js';

/** A scenario's results, as `--json` writes them. */
export interface Report {
  scenario: string;
  /** ISO date-time of its start. */
  at: string;
  machine: Machine;
  /** Load average of the last minute, before and after. */
  loadAverage: [before: number, after: number];
  provenance: Provenance;
  /** Of the figures. */
  units: Partial<Record<Metric, string>>;
  /** As given, with defaults. */
  options: LoadOptions;
  results: Result[];
  verdicts: Verdict[];
  /** With `--baseline`. */
  comparisons?: Comparison[];
}
