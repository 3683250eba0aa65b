import pc from 'picocolors';
import { CLIENTS_TOO_BUSY, type Metric, metrics } from './metrics.js';
import type { Result, Scenario, Verdict } from './scenario.js';
import type { Summary } from './statistics.js';

function number(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A median, and behind it how far the runs lie apart, in % of it. */
export function shown(metric: Metric, figure: Summary | undefined): string {
  if (!figure) return '–';
  const { digits } = metrics[metric];
  const { median, min, max, runs } = figure;
  const text = number(median, digits);
  if (runs.length < 2 || median === 0 || metric === 'delivered' || metric === 'clients') return text;
  return `${text} ±${number(((max - min) / 2 / Math.abs(median)) * 100, 0)}%`;
}

/** Columns that any of the results has something for. */
export function columnsOf(scenario: Scenario, results: Result[]): Metric[] {
  return scenario.columns.filter((metric) => results.some(({ figures }) => figures[metric]));
}

/** How often the first column's figure is that of the limit beside it. */
function againstLimit(result: Result, results: Result[], metric: Metric): string {
  const limit = results.find(({ role, part }) => role === 'limit' && part === result.part)?.figures[metric];
  const own = result.figures[metric];
  return limit && own && limit.median > 0 ? `${number(own.median / limit.median, 2)}×` : '';
}

/** Notes under a table: who is missing, and where the clients were what was slow. */
export function remarks(results: Result[]): string[] {
  const label = ({ name, part }: Result) => (part ? `${name} (${part})` : name);
  return [
    ...results.flatMap((result) => (result.missing ? [`${label(result)}: ${result.missing}`] : [])),
    ...results
      .filter(({ figures }) => (figures.clients?.median ?? 0) > CLIENTS_TOO_BUSY)
      .map((result) => `${label(result)}: the clients were at their limit; its rate and latency are theirs`),
  ];
}

/** The table of a scenario, as text. */
export function table(scenario: Scenario, results: Result[]): string {
  const columns = columnsOf(scenario, results);
  const first = columns[0];
  const head = ['', 'role', ...columns.map((metric) => metrics[metric].label), 'vs limit'];
  const rows: string[][] = [];
  let part: string | undefined;
  for (const result of results) {
    if (result.part !== part) rows.push([`— ${result.part}`]);
    part = result.part;
    rows.push([
      result.name,
      result.role,
      ...columns.map((metric) =>
        result.missing ? (metric === first ? 'missing' : '') : shown(metric, result.figures[metric]),
      ),
      first ? againstLimit(result, results, first) : '',
    ]);
  }
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => (row.length > 1 ? (row[i] ?? '').length : 0))),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  return [
    pc.bold(`${scenario.name}: ${scenario.title}`),
    pc.dim(line(head)),
    ...rows.map((row) =>
      row.length === 1 ? pc.dim(row[0] as string) : row[1] === 'ours' ? pc.cyan(line(row)) : line(row),
    ),
    ...remarks(results).map((text) => pc.yellow(text)),
  ].join('\n');
}

/** The verdicts, one a line. */
export function verdictLines(verdicts: Verdict[]): string[] {
  return verdicts.map(({ goal, value, bound, holds }) => {
    const came = value === undefined ? 'not measured' : number(value, 2);
    const text = `${holds ? 'holds' : 'misses'}  ${goal}: ${came} (bound ${bound})`;
    return holds ? pc.green(text) : pc.red(text);
  });
}
