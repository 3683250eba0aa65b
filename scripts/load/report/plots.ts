import { type Metric, metrics } from '../metrics.js';
import type { Result } from '../scenario.js';
import { formatFigure } from '../table.js';

/** Widths in px: the plot, names to its left, and values to its right. */
const WIDTH = 860;
const NAMES = 250;
const VALUES = 130;

/** Heights in px. */
const ROW = 30;
const BAR = 16;
const AXIS = 26;

const PERCENTILES: [metric: Metric, label: string][] = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
];

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

function svg(height: number, body: string[], title: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${body.join('')}</svg>`;
}

function text(x: number, y: number, content: string, kind: string, anchor = 'start'): string {
  return `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escapeHtml(content)}</text>`;
}

/** Bars from zero to the median, with a dot for each run. */
export function medianPlot(metric: Metric, results: Result[]): string {
  const rows = results.flatMap(({ name, role, figures }) => {
    const figure = figures[metric];
    return figure ? [{ name, role, figure }] : [];
  });
  const highest = Math.max(...rows.map(({ figure }) => figure.max), Number.MIN_VALUE);
  const x = (value: number) => NAMES + (value / highest) * (WIDTH - NAMES - VALUES);
  const body = rows.flatMap(({ name, role, figure }, i) => {
    const y = i * ROW + (ROW - BAR) / 2;
    return [
      text(NAMES - 12, y + 12, name, 'name', 'end'),
      `<rect x="${NAMES}" y="${y}" width="${Math.max(1, x(figure.median) - NAMES)}" height="${BAR}" rx="3" class="${role}"/>`,
      ...figure.runs.map((run) => `<circle cx="${x(run)}" cy="${y + BAR / 2}" r="3.5" class="run"/>`),
      text(x(figure.max) + 12, y + 12, formatFigure(metric, figure), 'value'),
    ];
  });
  return svg(rows.length * ROW, body, metrics[metric].title);
}

/** Latencies on a logarithmic scale: a line from p50 to p99.9, with p99 between. Empty without latencies. */
export function latencyPlot(results: Result[]): string {
  const rows = results.filter(({ figures }) => PERCENTILES.every(([metric]) => figures[metric]));
  if (rows.length === 0) return '';
  const values = rows.flatMap(({ figures }) => PERCENTILES.map(([metric]) => figures[metric]?.median ?? 1));
  // The axis covers whole powers of ten.
  const low = Math.floor(Math.log10(Math.max(Math.min(...values), 0.001)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const x = (ms: number) =>
    NAMES + ((Math.log10(Math.max(ms, 10 ** low)) - low) / (high - low)) * (WIDTH - NAMES - 40);
  const height = rows.length * ROW + AXIS;
  const grid = ticks.flatMap((tick) => [
    `<line x1="${x(tick)}" x2="${x(tick)}" y1="0" y2="${height - 20}" class="grid"/>`,
    text(x(tick), height - 6, `${tick} ms`, 'tick', 'middle'),
  ]);
  const body = rows.flatMap(({ name, role, figures }, i) => {
    const y = i * ROW + ROW / 2;
    const at = PERCENTILES.map(([metric]) => x(figures[metric]?.median ?? 0));
    return [
      text(NAMES - 12, y + 4, name, 'name', 'end'),
      `<line x1="${at[0]}" x2="${at[2]}" y1="${y}" y2="${y}" class="span ${role}"/>`,
      ...PERCENTILES.map(([metric, label], k) => {
        const title = `${label} ${escapeHtml(formatFigure(metric, figures[metric]))} ms`;
        return `<circle cx="${at[k]}" cy="${y}" r="${6 - k}" class="${role}"><title>${title}</title></circle>`;
      }),
    ];
  });
  return svg(height, [...grid, ...body], 'latency: p50, p99 and p99.9');
}
