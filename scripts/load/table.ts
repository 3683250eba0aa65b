import { styleText } from 'node:util';
import { type Metric, metrics } from './metrics.js';
import type { Result, Scenario } from './scenario.js';
import type { Summary } from './statistics.js';
import type { Verdict } from './verdict.js';

function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median, with half the distance between lowest and highest run in % of it. */
export function formatFigure(metric: Metric, figure: Summary | undefined): string {
  if (!figure) return '–';
  const { median, min, max, runs } = figure;
  const text = formatNumber(median, metrics[metric].digits);
  if (runs.length < 2 || median === 0 || metric === 'delivered' || metric === 'clients') return text;
  return `${text} ±${formatNumber(((max - min) / 2 / Math.abs(median)) * 100, 0)}%`;
}

/** Columns that are left out where all of their figures are 0. */
const EXCEPTIONAL: Metric[] = ['refused', 'repeated'];

/** Columns for which there is any result. */
function columnsOf(scenario: Scenario, results: Result[]): Metric[] {
  const isShown = (metric: Metric, figure: Summary | undefined) =>
    figure !== undefined && (figure.max > 0 || !EXCEPTIONAL.includes(metric));
  return scenario.columns.filter((metric) => results.some(({ figures }) => isShown(metric, figures[metric])));
}

/** The first column's figure as a multiple of the limit's in the same part. */
function againstLimit(result: Result, results: Result[], metric: Metric | undefined): string {
  if (metric === undefined) return '';
  const limit = results.find(({ role, part }) => role === 'limit' && part === result.part)?.figures[metric];
  const own = result.figures[metric];
  return limit && own && limit.median > 0 ? `${formatNumber(own.median / limit.median, 2)}×` : '';
}

/** Notes under a table: missing contenders, void turns, and what was noted in the others. */
export function notesOf(results: Result[]): string[] {
  const label = ({ name, part }: Result) => (part ? `${name} (${part})` : name);
  const missing = results.flatMap((result) =>
    result.missing ? [`${label(result)}: ${result.missing}`] : [],
  );
  const voided = results.flatMap((result) => {
    const { voided: reasons = [], turns = 0 } = result;
    if (reasons.length === 0) return [];
    const kinds = [...new Set(reasons)].join('; ');
    return [`${label(result)}: ${reasons.length} of ${turns} turns void: ${kinds}`];
  });
  const noted = results.flatMap((result) => (result.notes ?? []).map((note) => `${label(result)}: ${note}`));
  return [...missing, ...voided, ...noted];
}

function cellsOf(result: Result, results: Result[], columns: Metric[]): string[] {
  const [first] = columns;
  const figures = result.missing
    ? columns.map((_, i) => (i === 0 ? 'missing' : ''))
    : columns.map((metric) => formatFigure(metric, result.figures[metric]));
  return [result.name, result.role, againstLimit(result, results, first), ...figures];
}

/** Where the time of a contender's messages went, a line for each stage. */
function stageLines({ name, part, stages = [] }: Result): string[] {
  if (stages.length === 0) return [];
  const of = part ? `${name}, ${part}` : name;
  const ms = (value: number) => formatNumber(value, 3).padStart(9);
  const lines = stages.map(
    ({ stage, share, mean, p50, p99 }) =>
      `${stage.padEnd(8)} ${formatNumber(share, 0).padStart(5)}% ${ms(mean)} ${ms(p50)} ${ms(p99)}`,
  );
  const head = ['share', 'mean', 'p50', 'p99'].map((title, i) => title.padStart(i === 0 ? 6 : 9)).join(' ');
  return [styleText('dim', `${of}: stages of a message, ms`), `${' '.repeat(9)}${head}`, ...lines];
}

/** The table of a scenario as text. */
export function table(scenario: Scenario, results: Result[]): string {
  const columns = columnsOf(scenario, results);
  const head = ['', 'role', 'vs limit', ...columns.map((metric) => metrics[metric].label)];
  const rows = results.map((result) => cellsOf(result, results, columns));
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [
    styleText('bold', `${scenario.name}: ${scenario.title}`),
    styleText('dim', line(head)),
    ...results.flatMap(({ role, part }, i) => {
      const text = line(rows[i] as string[]);
      const heading =
        part === undefined || part === results[i - 1]?.part ? [] : [styleText('dim', `— ${part}`)];
      return [...heading, role === 'ours' ? styleText('cyan', text) : text];
    }),
    ...results.flatMap(stageLines),
    ...notesOf(results).map((note) => styleText('yellow', note)),
  ].join('\n');
}

const paint = { holds: 'green', misses: 'red', 'not judged': 'gray' } as const;

/** The bound, and what else decided. */
function boundText({ bound, missedBefore, firstValue }: Verdict): string {
  const first = firstValue === undefined ? '' : `; ${formatNumber(firstValue, 2)} when first measured`;
  return `bound ${bound}${missedBefore ? ', missed in the baseline, too' : ''}${first}`;
}

/** One line for each verdict. */
export function verdictLines(verdicts: Verdict[]): string[] {
  return verdicts.map((verdict) => {
    const { goal, value, outcome, why, missedBefore } = verdict;
    const result = why ?? (value === undefined ? '' : formatNumber(value, 2));
    const text = `${outcome.padEnd(10)}  ${goal}: ${result} (${boundText(verdict)})`;
    return styleText(missedBefore ? 'yellow' : paint[outcome], text);
  });
}
