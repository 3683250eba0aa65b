import { type Metric, metrics } from '../metrics.js';
import type { Result } from '../scenario.js';
import { formatFigure } from '../table.js';
import type { PlottedSecond } from '../timeline.js';

/** Widths in px: the plot, names to its left, and values to its right. */
const WIDTH = 860;
const NAMES = 250;
const VALUES = 130;

/** Heights in px. */
const ROW = 30;
const BAR = 16;
const AXIS = 26;

/** Height of each of the two plots over time, px, and the space between them. */
const OVER_TIME = 120;
const GAP = 30;

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

/** A line through the values of all seconds, from zero to `highest`; a second without one interrupts it. */
function curve(values: (number | undefined)[], highest: number, top: number, kind: string): string {
  const x = (i: number) => NAMES + (i / Math.max(1, values.length - 1)) * (WIDTH - NAMES - VALUES);
  const points = values.map((value, i) => {
    if (value === undefined) return '';
    const command = i === 0 || values[i - 1] === undefined ? 'M' : 'L';
    return `${command}${x(i).toFixed(1)} ${(top + OVER_TIME * (1 - value / highest)).toFixed(1)}`;
  });
  return `<path d="${points.join('')}" class="curve ${kind}"/>`;
}

/** Offered, served and refused per second, and below them p99 of what was served, over time. */
export function timelinePlot(seconds: PlottedSecond[]): string {
  const rates = ['offered', 'served', 'refused'] as const;
  const mostPerSecond = Math.max(1, ...seconds.flatMap((second) => rates.map((rate) => second[rate])));
  const longest = Math.max(1, ...seconds.map(({ p99 = 0 }) => p99));
  const below = OVER_TIME + GAP;
  const right = WIDTH - VALUES;
  const axis = (top: number, highest: string, unit: string) => [
    `<line x1="${NAMES}" x2="${right}" y1="${top + OVER_TIME}" y2="${top + OVER_TIME}" class="grid"/>`,
    `<line x1="${NAMES}" x2="${right}" y1="${top}" y2="${top}" class="grid"/>`,
    text(NAMES - 12, top + 12, `${highest} ${unit}`, 'tick', 'end'),
  ];
  const body = [
    ...axis(4, mostPerSecond.toLocaleString('en'), 'per s'),
    ...rates.flatMap((rate, i) => [
      curve(
        seconds.map((second) => second[rate]),
        mostPerSecond,
        4,
        rate,
      ),
      `<line x1="${right + 12}" x2="${right + 32}" y1="${14 + i * 20}" y2="${14 + i * 20}" class="curve ${rate}"/>`,
      text(right + 38, 18 + i * 20, rate, 'value'),
    ]),
    ...axis(below, longest.toFixed(1), 'ms, p99'),
    curve(
      seconds.map(({ p99 }) => p99),
      longest,
      below,
      'served',
    ),
    text(NAMES, below + OVER_TIME + 16, '0 s', 'tick', 'middle'),
    text(right, below + OVER_TIME + 16, `${seconds.length} s`, 'tick', 'middle'),
  ];
  return svg(below + OVER_TIME + 24, body, 'offered, served and refused per second, and p99, over time');
}
