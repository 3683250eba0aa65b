import { escapeHtml } from '../../load/report/plots.js';
import { AXIS, type Axis } from './axis.js';
import type { Moment, Story, Strike } from './collect.js';
import { NAMES, svg, text } from './svg.js';
import { faultBands, LATE_MS } from './timeline.js';

/** Height of the plot, px. */
const PLOT = 190;

/** Time before and after a fault with which it is compared, ms. */
const AROUND_MS = 5_000;

/** The ends of the logarithmic axis, ms. */
const LEAST = 1;
const MOST = 100_000;

function y(ms: number): number {
  const share = Math.log10(Math.min(MOST, Math.max(LEAST, ms)) / LEAST) / Math.log10(MOST / LEAST);
  return PLOT - share * (PLOT - 8);
}

/** How long acknowledgements and deliveries took, at each time. */
export function latencyPlot(story: Story, axis: Axis): string {
  const { sends, deliveries } = story;
  const { x, right } = axis;
  const seen = new Set<string>();
  const dots = (moments: Moment[], kind: string) =>
    moments.map(({ t, took }) => {
      const [cx, cy] = [Math.round(x(t)), Math.round(y(took) / 2) * 2];
      const key = `${kind} ${cx} ${cy}`;
      if (seen.has(key)) return '';
      seen.add(key);
      return `<circle cx="${cx}" cy="${cy}" r="2" class="${took > LATE_MS ? 'late' : kind}"/>`;
    });
  const grid = [1, 10, 100, 1_000, 10_000].flatMap((ms) => [
    `<line x1="${NAMES}" x2="${right}" y1="${y(ms)}" y2="${y(ms)}" class="grid"/>`,
    text(NAMES - 8, y(ms) + 4, ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`, 'tick', 'end'),
  ]);
  return svg(
    PLOT + AXIS,
    [
      ...axis.draw(PLOT + AXIS),
      ...faultBands(story, axis, PLOT),
      ...grid,
      ...dots(deliveries, 'limit'),
      ...dots(sends, 'ours'),
    ],
    'time to the acknowledgement and to the delivery',
  );
}

function percentile(sorted: number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

const figure = (ms: number | undefined): string => {
  if (ms === undefined) return '<td class="missing">–</td>';
  return `<td${ms > LATE_MS ? ' class="late"' : ''}>${ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')}</td>`;
};

/** Median, p99 and longest of what was asked for in this time, ms. */
function figures(moments: Moment[], from: number, to: number): string {
  const took = moments
    .filter((one) => one.t - one.took >= from && one.t - one.took < to)
    .map((one) => one.took)
    .sort((a, b) => a - b);
  return [0.5, 0.99, 1].map((share) => figure(percentile(took, share))).join('');
}

function row(story: Story, { fault, target, from, to }: Strike): string {
  const until = Math.min(to, story.end);
  const spans: [number, number][] = [
    [from - AROUND_MS, from],
    [from, until],
    [until, until + AROUND_MS],
  ];
  const lost = story.unanswered.filter(({ t, took }) => t - took < until && t > from).length;
  const cells = spans.map(([a, b]) => figures(story.deliveries, a, b)).join('');
  return `<tr><th>${escapeHtml(fault)} <small>${escapeHtml(target)}, ${((until - from) / 1_000).toFixed(1)} s</small></th>${cells}<td${lost > 0 ? ' class="late"' : ''}>${lost}</td></tr>`;
}

/** Of each fault: how long deliveries took of messages asked for before, during and after it. */
export function latencyTable(story: Story): string {
  if (story.strikes.length === 0) {
    return `<table><thead><tr><th></th><th>p50</th><th>p99</th><th>longest</th></tr></thead><tbody>
<tr><th>acknowledged</th>${figures(story.sends, 0, story.end)}</tr>
<tr><th>delivered</th>${figures(story.deliveries, 0, story.end)}</tr></tbody></table>`;
  }
  const rows = story.strikes.map((strike) => row(story, strike)).join('');
  const spans = [`${AROUND_MS / 1_000} s before`, 'during', `${AROUND_MS / 1_000} s after`];
  return `<table><thead><tr><th></th>${spans.map((span) => `<th colspan="3">${span}</th>`).join('')}<th></th></tr>
<tr><th>fault</th>${'<th>p50</th><th>p99</th><th>longest</th>'.repeat(3)}<th>unanswered</th></tr></thead><tbody>${rows}</tbody></table>`;
}
