import { writeFileSync } from 'node:fs';
import { compareWith, comparisonLines, markMissedBefore } from './baseline.js';
import type { LoadOptions } from './options.js';
import { benchmarks } from './report/benchmark-action.js';
import { writeHistograms } from './report/histograms.js';
import { htmlReport, type Report } from './report/page.js';
import type { Scenario } from './scenario.js';
import { table, verdictLines } from './table.js';
import { unlessUnfit } from './verdict.js';

/** Exit status of a missed bound or a regression. */
const MISSED = 99;

/**
 * Judges what was measured, and prints it.
 * @param comparisons with the baseline; by default of what was measured
 */
export function judge(
  scenario: Scenario,
  measured: Omit<Report, 'verdicts'>,
  baseline: Report[] | undefined,
  comparisons = baseline && compareWith(baseline, measured),
): Report {
  const { results, options } = measured;
  const report = { ...measured, verdicts: unlessUnfit(options, scenario.verdicts(results, options)) };
  const verdicts = baseline ? markMissedBefore(baseline, report, comparisons ?? []) : report.verdicts;
  const lines = [...verdictLines(verdicts), ...(comparisons ? comparisonLines(comparisons) : [])];
  process.stdout.write(`${[table(scenario, results), ...lines].join('\n')}\n\n`);
  return { ...measured, verdicts, ...(comparisons && { comparisons }) };
}

/** Writes the files that the options name. @param asList whether `--json` gets a list also of one scenario */
export function writeFiles(
  reports: Report[],
  scenarios: Scenario[],
  asList: boolean,
  { json, html, format }: Pick<LoadOptions, 'json' | 'html' | 'format'>,
): void {
  const content = format === 'report' ? (asList ? reports : reports[0]) : benchmarks(reports);
  if (json) {
    writeFileSync(json, `${JSON.stringify(content, null, 2)}\n`);
    writeHistograms(json, reports);
  }
  if (html) writeFileSync(html, htmlReport(reports, scenarios));
}

/** The exit status that the reports call for. */
export function statusOf(reports: Report[]): number {
  if (reports.some(({ results }) => results.some(({ missing }) => missing?.startsWith('failed')))) return 1;
  const missed = reports.some(
    ({ verdicts, comparisons = [] }) =>
      verdicts.some(({ outcome, missedBefore }) => outcome === 'misses' && !missedBefore) ||
      comparisons.some(({ outcome }) => outcome === 'regressed'),
  );
  return missed ? MISSED : 0;
}
