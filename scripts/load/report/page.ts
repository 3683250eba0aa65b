import type { Machine } from '../machine.js';
import { metrics } from '../metrics.js';
import type { Result, Scenario, Verdict } from '../scenario.js';
import { columnsOf, remarks, shown } from '../table.js';
import { bars, escapeHtml, latencies } from './plots.js';
import { style } from './style.js';

/** One scenario's outcome, as `--json` writes it. */
export interface Report {
  scenario: string;
  /** ISO date-time of its begin. */
  at: string;
  machine: Machine;
  results: Result[];
  verdicts: Verdict[];
}

/** The parts of a scenario, in their order. */
function partsOf(results: Result[]): (string | undefined)[] {
  return [...new Set(results.map(({ part }) => part))];
}

function figuresTable(scenario: Scenario, results: Result[]): string {
  const columns = columnsOf(scenario, results);
  const head = columns.map(
    (m) => `<th title="${escapeHtml(metrics[m].title)}">${escapeHtml(metrics[m].label)}</th>`,
  );
  const rows = results.map(({ name, role, missing, figures }) => {
    const cells = missing
      ? `<td colspan="${columns.length}" class="missing">${escapeHtml(missing)}</td>`
      : columns.map((metric) => `<td>${escapeHtml(shown(metric, figures[metric]))}</td>`).join('');
    return `<tr class="${role}"><th scope="row">${escapeHtml(name)}<small>${role}</small></th>${cells}</tr>`;
  });
  return `<div class="wide"><table><thead><tr><th></th>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function verdictList(verdicts: Verdict[]): string {
  if (verdicts.length === 0) return '';
  const items = verdicts.map(({ goal, value, bound, holds }) => {
    const came =
      value === undefined ? 'not measured' : value.toLocaleString('en', { maximumFractionDigits: 2 });
    return `<li class="${holds ? 'holds' : 'misses'}"><b>${came}</b> ${escapeHtml(goal)} <small>bound ${bound}</small></li>`;
  });
  return `<ul class="verdicts">${items.join('')}</ul>`;
}

function section(report: Report, scenario: Scenario): string {
  const [first] = scenario.columns;
  const parts = partsOf(report.results).map((part) => {
    const results = report.results.filter((result) => result.part === part);
    const measured = results.filter(({ missing }) => !missing);
    const shownFirst =
      first && measured.some(({ figures }) => figures[first]) ? first : columnsOf(scenario, measured)[0];
    const plot = shownFirst
      ? `<figure><figcaption>${escapeHtml(metrics[shownFirst].title)}</figcaption>${bars(shownFirst, measured)}</figure>`
      : '';
    const times = latencies(measured);
    return `${part ? `<h3>${escapeHtml(part)}</h3>` : ''}${plot}${
      times ? `<figure><figcaption>latency: p50, p99, p99.9 (logarithmic)</figcaption>${times}</figure>` : ''
    }${figuresTable(scenario, results)}`;
  });
  const notes = remarks(report.results).map((text) => `<p class="remark">${escapeHtml(text)}</p>`);
  return `<section id="${scenario.name}"><h2>${scenario.name}</h2><p>${escapeHtml(scenario.title)}</p>${verdictList(report.verdicts)}${parts.join('')}${notes.join('')}</section>`;
}

/** The report: one page with everything in it, which asks no other host for anything. */
export function htmlReport(reports: Report[], scenarios: Scenario[]): string {
  const known = new Map(scenarios.map((scenario) => [scenario.name, scenario]));
  const on = reports[0]?.machine;
  const about = on
    ? `${on.cpu}, ${on.cores} cores, ${on.memoryGiB} GiB, Linux ${on.kernel}, Node ${on.node}, ${reports[0]?.at.slice(0, 16).replace('T', ' ')}`
    : '';
  const links = reports.map(({ scenario }) => `<a href="#${scenario}">${scenario}</a>`).join('');
  const sections = reports.flatMap((report) => {
    const scenario = known.get(report.scenario);
    return scenario ? [section(report, scenario)] : [];
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Load tests</title><style>${style}</style></head>
<body><header><h1>Load tests</h1><p>${escapeHtml(about)}</p><nav>${links}</nav>
<p class="legend"><i class="ours"></i>this service <i class="limit"></i>limit <i class="peer"></i>peer. Bars are medians, dots are runs, ± is half the spread.</p></header>
<main>${sections.join('\n')}</main></body></html>
`;
}
