import { escapeHtml } from '../../load/report/plots.js';
import { style } from '../../load/report/style.js';
import type { Verdict } from '../check/judge.js';
import { collect, type Story } from './collect.js';
import { latencyPlot, latencyTable } from './latencies.js';
import { LATE_MS, timeline } from './timeline.js';

/** Added to the style of the load report: wider, and red for what was lost or late. */
const OWN_STYLE = `
body { max-width: 78rem; } h2 { text-transform: none; margin-top: 2rem; }
.outcome { display: inline-block; padding: 0.1rem 0.8rem; border-radius: 1rem; color: var(--page); }
.outcome.holds { background: var(--good); } .outcome.broken { background: var(--bad); } .outcome.unknown { background: var(--peer); }
.outcome::before { content: none; } .facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2.2rem; margin: 1rem 0; }
.facts b { font-size: 1.4rem; display: block; font-variant-numeric: tabular-nums; } .facts .bad b { color: var(--bad); }
svg .fault { fill: var(--peer); } svg .band { fill: var(--peer); opacity: 0.09; } svg .offline { fill: var(--line); }
svg .phase { stroke: var(--soft); stroke-dasharray: 4 4; } svg .lost { fill: var(--bad); }
svg .cross { stroke: var(--soft); stroke-width: 1; fill: none; opacity: 0.7; } svg .violation { stroke: var(--bad); stroke-width: 2; }
svg .name { font-size: 12px; } td.late { color: var(--bad); font-weight: 600; } i.lost { background: var(--bad); border-radius: 50%; }
i.offline { background: var(--line); } i.band { background: var(--peer); opacity: 0.4; } .broken li { color: var(--bad); }
.broken li small { color: var(--text); white-space: pre-wrap; }
`;

const fact = (count: number | string, what: string, isBad = false): string =>
  `<div${isBad ? ' class="bad"' : ''}><b>${typeof count === 'number' ? count.toLocaleString('en') : escapeHtml(count)}</b>${escapeHtml(what)}</div>`;

/** What the outcome means. */
const MEANING: Record<Verdict['outcome'], string> = {
  holds: 'Every promise was kept: nothing lost, doubled, reordered or forgotten.',
  broken: 'A promise was broken.',
  unknown: 'Nothing was broken, but not everything was tried.',
};

function facts(story: Story, { counts, violations }: Verdict): string {
  const slowest = story.deliveries.reduce((most, { took }) => Math.max(most, took), 0);
  const late = story.deliveries.filter(({ took }) => took > LATE_MS).length;
  return [
    fact(story.sends.length, 'sends acknowledged'),
    fact(story.deliveries.length, 'deliveries'),
    fact(story.strikes.length, 'faults'),
    fact(story.catchUps.length, 'catch-ups'),
    fact(story.unanswered.length, 'requests without an answer'),
    fact(late, `deliveries after more than ${LATE_MS / 1_000} s`, late > 0),
    fact(`${(slowest / 1_000).toFixed(2)} s`, 'slowest delivery', slowest > LATE_MS),
    fact(violations.length, 'promises broken', violations.length > 0),
    fact(counts.operations, 'operations in all'),
  ].join('');
}

function findings({ violations, missing }: Verdict): string {
  const broken = violations.map(
    ({ rule, t, text }) =>
      `<li>${escapeHtml(rule)} at ${(t / 1_000).toFixed(3)} s<br><small>${escapeHtml(text)}</small></li>`,
  );
  const open = missing.map((line) => `<li>${escapeHtml(line)}</li>`);
  return [
    broken.length > 0 ? `<h2>What was broken</h2><ul class="broken">${broken.join('')}</ul>` : '',
    open.length > 0 ? `<h2>What was not tried</h2><ul>${open.join('')}</ul>` : '',
  ].join('');
}

/**
 * A run as one HTML page that loads nothing: its verdict, its faults, what members sent and received, and how long it
 * took.
 *
 * @param lines the history that was judged
 * @throws Error naming the number of a line that is no part of a history
 */
export async function drawPicture(lines: AsyncIterable<string>, verdict: Verdict): Promise<string> {
  const story = await collect(lines);
  const { outcome, seed, version } = verdict;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>prove: ${outcome}</title><style>${style}${OWN_STYLE}</style></head><body>
<header><h1>npm run prove: <span class="outcome ${outcome}">${outcome}</span></h1>
<p>${MEANING[outcome]} Seed ${seed}, version ${escapeHtml(version)}.</p></header>
<div class="facts">${facts(story, verdict)}</div>
${findings(verdict)}
<h2>What happened</h2>
<p class="legend"><i class="band"></i>while a fault lasts <i class="ours"></i>sent and acknowledged <i class="limit"></i>delivered
<i class="peer"></i>caught up by a join (▲) <i class="offline"></i>without a connection <i class="lost"></i>later than ${LATE_MS / 1_000} s; × without an answer; a red line: a promise broken</p>
<figure class="wide">${timeline(story, verdict)}</figure>
<h2>How long it took</h2>
<p class="legend"><i class="ours"></i>from sending to the acknowledgement <i class="limit"></i>from sending to the delivery; the scale is logarithmic</p>
<figure class="wide">${latencyPlot(story)}</figure>
<h3>Deliveries of messages sent before, during and after each fault, ms</h3>
<div class="wide">${latencyTable(story)}</div>
</body></html>
`;
}
