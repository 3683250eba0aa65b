import { type Metric, metrics } from '../metrics.js';
import type { Result } from '../scenario.js';
import { shown } from '../table.js';

const WIDTH = 860;
const NAMES = 250;
const VALUES = 130;
const ROW = 30;
const BAR = 16;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function svg(height: number, body: string[], title: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${body.join('')}</svg>`;
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  return `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(content)}</text>`;
}

/** Bars from zero to the median, the runs as dots on them, for one part of a scenario. */
export function bars(metric: Metric, results: Result[]): string {
  const rows = results.filter(({ figures }) => figures[metric]);
  const most = Math.max(...rows.map(({ figures }) => figures[metric]?.max ?? 0), Number.MIN_VALUE);
  const scale = (value: number) => NAMES + (value / most) * (WIDTH - NAMES - VALUES);
  const body = rows.flatMap((result, i) => {
    const figure = result.figures[metric];
    if (!figure) return [];
    const y = i * ROW + (ROW - BAR) / 2;
    return [
      text(NAMES - 12, y + 12, result.name, 'name', 'end'),
      `<rect x="${NAMES}" y="${y}" width="${Math.max(1, scale(figure.median) - NAMES)}" height="${BAR}" rx="3" class="${result.role}"/>`,
      ...figure.runs.map((run) => `<circle cx="${scale(run)}" cy="${y + BAR / 2}" r="3.5" class="run"/>`),
      text(scale(figure.max) + 12, y + 12, shown(metric, figure), 'value'),
    ];
  });
  return svg(rows.length * ROW, body, metrics[metric].title);
}

const PERCENTILES: [metric: Metric, label: string][] = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
];

/** Powers of ten from the one below `least` to the one above `most`. */
function decades(least: number, most: number): number[] {
  const from = Math.floor(Math.log10(Math.max(least, 0.001)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
}

/** Latencies on a logarithmic scale: a line from the median to p99.9, with p99 between. */
export function latencies(results: Result[]): string {
  const rows = results.filter(({ figures }) => figures.p50 && figures.p99 && figures.p999);
  if (rows.length === 0) return '';
  const values = rows.flatMap(({ figures }) => PERCENTILES.map(([metric]) => figures[metric]?.median ?? 1));
  const ticks = decades(Math.min(...values), Math.max(...values));
  const [low, high] = [Math.log10(ticks[0] as number), Math.log10(ticks.at(-1) as number)];
  const scale = (ms: number) =>
    NAMES + ((Math.log10(Math.max(ms, 10 ** low)) - low) / (high - low)) * (WIDTH - NAMES - 40);
  const height = rows.length * ROW + 26;
  const grid = ticks.flatMap((tick) => [
    `<line x1="${scale(tick)}" x2="${scale(tick)}" y1="0" y2="${height - 20}" class="grid"/>`,
    text(scale(tick), height - 6, `${tick} ms`, 'tick', 'middle'),
  ]);
  const body = rows.flatMap((result, i) => {
    const y = i * ROW + ROW / 2;
    const at = PERCENTILES.map(([metric]) => scale(result.figures[metric]?.median ?? 0));
    return [
      text(NAMES - 12, y + 4, result.name, 'name', 'end'),
      `<line x1="${at[0]}" x2="${at[2]}" y1="${y}" y2="${y}" class="span ${result.role}"/>`,
      ...PERCENTILES.map(([metric, label], k) => {
        const value = shown(metric, result.figures[metric]);
        return `<circle cx="${at[k]}" cy="${y}" r="${6 - k}" class="${result.role}"><title>${label} ${escapeHtml(value)} ms</title></circle>`;
      }),
    ];
  });
  return svg(height, [...grid, ...body], 'latency: p50, p99 and p99.9');
}
