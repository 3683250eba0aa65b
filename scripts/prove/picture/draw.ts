import { escapeHtml } from '../../load/report/plots.js';
import { style } from '../../load/report/style.js';
import type { Verdict } from '../check/judge.js';
import { axisOf } from './axis.js';
import { collect, type Story } from './collect.js';
import { latencyPlot, latencyTable } from './latencies.js';
import { LATE_MS, timeline } from './timeline.js';

/** Added to the style of the load report: wider; amber for what was late, red for broken promises alone. */
const OWN_STYLE = `
:root { --fault: #6a5fb0; --caught: #2d6cc0; --late: var(--peer); }
@media (prefers-color-scheme: dark) { :root { --fault: #a99cf0; --caught: #7fb3ff; } }
body { max-width: 78rem; } h2 { text-transform: none; margin-top: 2rem; }
.outcome { display: inline-block; padding: 0.1rem 0.8rem; border-radius: 1rem; color: var(--page); }
.outcome.holds { background: var(--good); } .outcome.broken { background: var(--bad); } .outcome.unknown { background: var(--soft); }
.outcome::before { content: none; } header .summary { color: var(--text); font-size: 1.1rem; }
.facts { display: flex; flex-wrap: wrap; gap: 0.4rem 2.2rem; margin: 1rem 0; }
.facts b { font-size: 1.4rem; display: block; font-variant-numeric: tabular-nums; }
.facts .bad b { color: var(--bad); } .facts .slow b { color: var(--late); }
svg .fault { fill: var(--fault); } svg .band { fill: var(--fault); opacity: 0.08; } svg .target { fill: var(--page); font-size: 10px; }
svg .offline { fill: var(--line); } svg .caught { fill: var(--caught); } svg .late { fill: var(--late); }
svg .phase { stroke: var(--soft); stroke-dasharray: 4 4; } svg .cut { fill: var(--page); } svg .break { fill: none; stroke: var(--soft); }
svg .cross { stroke: var(--soft); stroke-width: 1; fill: none; opacity: 0.7; } svg .violation { fill: var(--bad); }
svg .name { font-size: 12px; } td.late { color: var(--late); font-weight: 600; }
i.late { background: var(--late); border-radius: 50%; } i.caught { background: var(--caught); } i.offline { background: var(--line); }
i.band { background: var(--fault); } i.violation { background: var(--bad); } .broken li { color: var(--bad); }
.broken li small { color: var(--text); white-space: pre-wrap; }
`;

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;

const plural = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

type Mood = 'bad' | 'slow' | undefined;

const fact = (count: number | string, what: string, mood?: Mood): string =>
  `<div${mood ? ` class="${mood}"` : ''}><b>${typeof count === 'number' ? count.toLocaleString('en') : escapeHtml(count)}</b>${escapeHtml(what)}</div>`;

/** What happened, in a few sentences. */
function summary({ members, strikes, phases, end }: Story, { outcome, counts, broken }: Verdict): string {
  const trafficMs = (phases.get('quiet') ?? end) - (phases.get('traffic') ?? 0);
  const kinds = new Set(strikes.map(({ fault }) => fault)).size;
  const struck =
    strikes.length > 0
      ? `${plural(strikes.length, 'fault')} of ${plural(kinds, 'kind')} struck meanwhile.`
      : 'No fault struck.';
  const rules = Object.entries(broken).map(([rule, times]) => `${rule} (${plural(times, 'time')})`);
  const meaning: Record<Verdict['outcome'], string> = {
    holds: 'Every promise was kept: nothing acknowledged was lost, doubled, reordered or forgotten.',
    broken: `Broken: ${rules.join(', ')}.`,
    unknown: 'No promise was broken, but not everything was tried.',
  };
  return `${meaning[outcome]} ${members.length} members sent ${plural(counts.messages, 'message')} in ${inSeconds(trafficMs)}. ${struck}`;
}

function facts({ deliveries }: Story, { counts, broken }: Verdict): string {
  const slowest = deliveries.reduce((most, { took }) => Math.max(most, took), 0);
  const late = deliveries.filter(({ took }) => took > LATE_MS).length;
  const violations = Object.values(broken).reduce((sum, times) => sum + times, 0);
  const slow = (isSlow: boolean) => (isSlow ? 'slow' : undefined);
  return [
    fact(counts.acknowledged, 'messages acknowledged'),
    fact(counts.deliveries, 'events delivered'),
    fact(counts.unanswered, 'requests without an answer'),
    fact(late, `messages pushed after more than ${LATE_MS / 1_000} s`, slow(late > 0)),
    fact(inSeconds(slowest), 'slowest push of a message', slow(slowest > LATE_MS)),
    fact(violations, 'violations of a promise', violations > 0 ? 'bad' : undefined),
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
  const axis = axisOf(
    story,
    verdict.violations.map(({ t }) => t),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>prove: ${outcome}</title><style>${style}${OWN_STYLE}</style></head><body>
<header><h1>npm run prove: <span class="outcome ${outcome}">${outcome}</span></h1>
<p class="summary">${escapeHtml(summary(story, verdict))}</p>
<p>Seed ${seed}, version ${escapeHtml(version)}.</p></header>
<div class="facts">${facts(story, verdict)}</div>
${findings(verdict)}
<h2>What happened</h2>
<p class="legend"><i class="band"></i>a fault, and while it lasts <i class="ours"></i>sent and acknowledged <i class="limit"></i>pushed to the other
<i class="caught"></i>▲ caught up after a reconnect <i class="offline"></i>without a connection <i class="late"></i>later than ${LATE_MS / 1_000} s; × no answer <i class="violation"></i>a promise broken</p>
<figure class="wide">${timeline(story, verdict, axis)}</figure>
<h2>How long it took</h2>
<p class="legend"><i class="ours"></i>from sending to the acknowledgement <i class="limit"></i>from sending to the delivery; the scale is logarithmic</p>
<figure class="wide">${latencyPlot(story, axis)}</figure>
<h3>Deliveries of messages sent before, during and after each fault, ms</h3>
<div class="wide">${latencyTable(story)}</div>
</body></html>
`;
}
