import type { Verdict } from '../check/judge.js';
import { collect, type Story } from './collect.js';
import { style } from './style.js';
import { escapeHtml } from './svg.js';
import { LATE_MS, timeline } from './timeline.js';

/** Added to the common style: wider; amber for what was late, red for broken promises alone. */
const OWN_STYLE = `
:root { --fault: #6a5fb0; --late: var(--peer); } @media (prefers-color-scheme: dark) { :root { --fault: #a99cf0; } }
body { max-width: 78rem; } .summary { font-size: 1.1rem; } .broken li, .broken b { color: var(--bad); }
.broken li small { color: var(--text); white-space: pre-wrap; } svg .name { font-size: 12px; }
svg .fault { fill: var(--fault); } svg .band { fill: var(--fault); opacity: 0.08; } svg .offline { fill: var(--line); }
svg .late { fill: var(--late); } svg .violation { fill: var(--bad); } svg .phase { stroke: var(--soft); stroke-dasharray: 4 4; }
svg .cross { stroke: var(--soft); fill: none; opacity: 0.7; } i.band { background: var(--fault); }
i.late { background: var(--late); } i.offline { background: var(--line); } i.violation { background: var(--bad); }
`;

/** The outcome in words. */
function summary({ outcome, broken }: Verdict): string {
  const rules = Object.entries(broken).map(
    ([rule, times]) => `${rule} (${times} time${times === 1 ? '' : 's'})`,
  );
  const meaning: Record<Verdict['outcome'], string> = {
    holds: 'Every promise was kept: nothing acknowledged was lost, doubled, reordered or forgotten.',
    broken: `Broken: ${rules.join(', ')}.`,
    unknown: 'No promise was broken, but not everything was tried.',
  };
  return meaning[outcome];
}

/** How much there was. */
function figures({ members, strikes, deliveries }: Story, { counts, broken }: Verdict): string {
  const late = deliveries.filter(({ took }) => took > LATE_MS).length;
  const violations = Object.values(broken).reduce((sum, times) => sum + times, 0);
  return [
    [members.length, 'members'],
    [strikes.length, 'faults'],
    [counts.acknowledged, 'messages acknowledged'],
    [counts.deliveries, 'events delivered'],
    [counts.unanswered, 'requests without an answer'],
    [late, `messages pushed after more than ${LATE_MS / 1_000} s`],
    [violations, 'violations of a promise'],
  ]
    .map(([count, what]) => `<li><b>${count?.toLocaleString('en')}</b> ${what}</li>`)
    .join('');
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
 * A run as one HTML page that loads nothing: its verdict, its faults, and what members sent and received.
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
<h1>npm run prove: <span class="${outcome}">${outcome}</span></h1>
<p class="summary">${escapeHtml(summary(verdict))}</p>
<p>Seed ${seed}, version ${escapeHtml(version)}.</p>
<ul class="figures">${figures(story, verdict)}</ul>
${findings(verdict)}
<h2>What happened</h2>
<p class="legend"><i class="band"></i>a fault, and while it lasts <i class="ours"></i>sent and acknowledged <i class="limit"></i>pushed to the other
<i class="offline"></i>without a connection <i class="late"></i>later than ${LATE_MS / 1_000} s; × no answer <i class="violation"></i>a promise broken</p>
<figure class="wide">${timeline(story, verdict)}</figure>
</body></html>
`;
}
