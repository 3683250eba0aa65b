import { writeFileSync } from 'node:fs';
import { compareWith, comparisonLines } from './baseline.js';
import type { LoadOptions } from './options.js';
import { benchmarks } from './report/benchmark-action.js';
import { writeHistograms } from './report/histograms.js';
import { htmlReport, type Report } from './report/page.js';
import type { Scenario } from './scenario.js';
import { table, verdictLines } from './table.js';
import { unlessUnfit } from './verdict.js';

/** Exit status of a missed bound or a regression. */
const MISSED = 99;

/** Judges what was measured, and prints it. */
export function judge(
  scenario: Scenario,
  measured: Omit<Report, 'verdicts'>,
  baseline: Report[] | undefined,
): Report {
  const { results, options } = measured;
  const verdicts = unlessUnfit(options, scenario.verdicts(results, options));
  const report = { ...measured, verdicts };
  const comparisons = baseline && compareWith(baseline, report);
  const lines = [...verdictLines(verdicts), ...(comparisons ? comparisonLines(comparisons) : [])];
  process.stdout.write(`${[table(scenario, results), ...lines].join('\n')}\n\n`);
  return { ...report, ...(comparisons && { comparisons }) };
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
      verdicts.some(({ outcome }) => outcome === 'misses') ||
      comparisons.some(({ outcome }) => outcome === 'regressed'),
  );
  return missed ? MISSED : 0;
}
