import { writeFileSync } from 'node:fs';
import {
  compareWith,
  comparisonLines,
  confirm,
  doubtsOf,
  isMissed,
  isUnjudged,
  markMissedBefore,
} from './baseline.js';
import type { LoadOptions, Outputs } from './options.js';
import type { Report } from './report.js';
import { isFailure, type Scenario } from './scenario.js';
import { table, verdictLines } from './table.js';
import { nothingLost, unlessUnfit } from './verdict.js';

/** Exit statuses: a failed contender, a baseline with which nothing can be compared, a missed bound or a regression. */
const FAILED = 1;
const NOT_COMPARED = 2;
const MISSED = 99;

/** Judges what was measured, also by an earlier run if there is one. */
export function judge(
  scenario: Scenario,
  measured: Omit<Report, 'verdicts'>,
  baseline: Report[] | undefined,
): Report {
  const { results, options } = measured;
  const verdicts = unlessUnfit(options, [nothingLost(results), ...scenario.verdicts(results, options)]);
  const report = { ...measured, verdicts };
  if (!baseline) return report;
  const comparisons = compareWith(baseline, measured, scenario.heeds);
  return { ...report, comparisons, verdicts: markMissedBefore(baseline, report, comparisons) };
}

/**
 * Measures again what may have failed by chance, and judges both measurements.
 * @param measureAgain resolves to undefined if it is interrupted
 * @returns undefined if there was nothing to measure again, or it was interrupted
 */
export async function judgeAgain(
  scenario: Scenario,
  report: Report,
  baseline: Report[] | undefined,
  measureAgain: (options: LoadOptions, why: string) => Promise<Omit<Report, 'verdicts'> | undefined>,
): Promise<Report | undefined> {
  const doubts = doubtsOf(report);
  const again = doubts && (await measureAgain(doubts.options, doubts.why));
  return again && confirm(report, judge(scenario, again, baseline));
}

/** Prints a scenario's figures, and what became of its bounds. */
export function print(scenario: Scenario, { results, verdicts, comparisons }: Report): void {
  const lines = [...verdictLines(verdicts), ...(comparisons ? comparisonLines(comparisons) : [])];
  process.stdout.write(`${[table(scenario, results), ...lines].join('\n')}\n\n`);
}

const asText = (content: unknown) => `${JSON.stringify(content, null, 2)}\n`;

/**
 * Writes the files that the options name; a baseline only if there was none to compare with (`renewBaseline`).
 * @param asList whether `--json` gets a list also of one scenario
 */
export function writeFiles(
  reports: Report[],
  asList: boolean,
  { json, baseline, 'save-baseline': saved }: Outputs,
): void {
  if (saved && baseline === undefined) writeFileSync(saved, asText(reports));
  if (json) writeFileSync(json, asText(asList ? reports : reports[0]));
}

/**
 * Writes a new baseline of a whole run that was compared with an older one, unless it failed: the next run would take its
 * failures for what was before.
 */
export function renewBaseline(reports: Report[], { baseline, 'save-baseline': saved }: Outputs): void {
  if (saved && baseline !== undefined && statusOf(reports) === 0) writeFileSync(saved, asText(reports));
}

/** The exit status that the reports call for. */
export function statusOf(reports: Report[]): number {
  if (reports.some(({ results }) => results.some(isFailure))) return FAILED;
  if (reports.some(isMissed)) return MISSED;
  const compared = reports.flatMap(({ comparisons }) => (comparisons ? [comparisons] : []));
  return compared.length > 0 && compared.every(isUnjudged) ? NOT_COMPARED : 0;
}
