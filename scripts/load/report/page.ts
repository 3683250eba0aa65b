import type { Machine } from '../machine.js';
import type { Result, Verdict } from '../scenario.js';

/** One scenario's outcome, as `--json` writes it. */
export interface Report {
  scenario: string;
  /** ISO date-time of its begin. */
  at: string;
  machine: Machine;
  results: Result[];
  verdicts: Verdict[];
}

export function htmlReport(reports: Report[]): string {
  return JSON.stringify(reports);
}
