import { type Comparison, summaryOf } from '../baseline.js';
import type { Machine } from '../machine.js';
import { type Metric, metrics } from '../metrics.js';
import type { LoadOptions } from '../options.js';
import type { Provenance } from '../provenance.js';
import type { Result, Scenario } from '../scenario.js';
import { againstLimit, boundText, columnsOf, formatFigure, notesOf } from '../table.js';
import type { Verdict } from '../verdict.js';
import { escapeHtml, latencyPlot, medianPlot, timelinePlot } from './plots.js';
import { style } from './style.js';

/** A scenario's results, as `--json` writes them. */
export interface Report {
  scenario: string;
  /** ISO date-time of its start. */
  at: string;
  machine: Machine;
  /** Of a merge: those of the clients, of which `machine` is the first. */
  clientMachines?: Machine[];
  /** Load average of the last minute, before and after. */
  loadAverage: [before: number, after: number];
  provenance: Provenance;
  /** Of the figures. */
  units: Partial<Record<Metric, string>>;
  /** As given, with defaults. */
  options: LoadOptions;
  results: Result[];
  verdicts: Verdict[];
  /** With `--baseline`. */
  comparisons?: Comparison[];
}

function figuresTable(scenario: Scenario, results: Result[]): string {
  const columns = columnsOf(scenario, results);
  const head = columns.map(
    (m) => `<th title="${escapeHtml(metrics[m].title)}">${escapeHtml(metrics[m].label)}</th>`,
  );
  const rows = results.map((result) => {
    const { name, role, missing, figures } = result;
    const ratio = againstLimit(result, results, columns[0]);
    const cells = missing
      ? `<td colspan="${columns.length}" class="missing">${escapeHtml(missing)}</td>`
      : columns.map((metric) => `<td>${escapeHtml(formatFigure(metric, figures[metric]))}</td>`).join('');
    return `<tr class="${role}"><th scope="row">${escapeHtml(name)}<small>${role}</small></th><td class="key">${ratio}</td>${cells}</tr>`;
  });
  return `<div class="wide"><table><thead><tr><th></th><th class="key">vs limit</th>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

function stagesTable({ name, stages = [] }: Result): string {
  if (stages.length === 0) return '';
  const ms = (value: number) =>
    `<td>${value.toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })}</td>`;
  const rows = stages.map(
    ({ stage, share, mean, p50, p99 }) =>
      `<tr><th scope="row">${stage}</th><td>${share.toFixed(0)} %</td>${[mean, p50, p99].map(ms).join('')}</tr>`,
  );
  const head = ['share', 'mean', 'p50', 'p99'].map((title) => `<th>${title}</th>`).join('');
  return figure(
    `${name}: stages of a message, ms`,
    `<table><thead><tr><th></th>${head}</tr></thead><tbody>${rows.join('')}</tbody></table>`,
  );
}

function verdictList(verdicts: Verdict[]): string {
  if (verdicts.length === 0) return '';
  const items = verdicts.map((verdict) => {
    const { goal, value, outcome, why, missedBefore } = verdict;
    const result = why ? 'not judged' : value?.toLocaleString('en', { maximumFractionDigits: 2 });
    const reason = why ? `: ${escapeHtml(why)}` : '';
    const style = missedBefore ? 'not-judged' : outcome.replace(' ', '-');
    return `<li class="${style}"><b>${result}</b> ${escapeHtml(goal)} <small>${boundText(verdict)}${reason}</small></li>`;
  });
  return `<ul class="verdicts">${items.join('')}</ul>`;
}

function comparisonList(comparisons: Comparison[] | undefined): string {
  if (!comparisons) return '';
  const { regressed, total, notJudged } = summaryOf(comparisons);
  const items = [
    ...regressed.map((text) => `<li class="misses"><b>regressed</b> ${escapeHtml(text)}</li>`),
    ...notJudged.map((text) => `<li class="not-judged"><b>not judged</b> ${escapeHtml(text)}</li>`),
  ];
  return `<p>${escapeHtml(total)}</p><ul class="verdicts">${items.join('')}</ul>`;
}

const figure = (caption: string, plot: string) =>
  plot && `<figure><figcaption>${escapeHtml(caption)}</figcaption>${plot}</figure>`;

function partSection(scenario: Scenario, part: string | undefined, results: Result[]): string {
  const measured = results.filter(({ missing }) => !missing);
  const [first] = columnsOf(scenario, measured);
  return [
    part ? `<h3>${escapeHtml(part)}</h3>` : '',
    first ? figure(metrics[first].title, medianPlot(first, measured)) : '',
    figure('latency: p50, p99, p99.9 (logarithmic)', latencyPlot(measured)),
    ...measured.map(({ name, timeline }) =>
      timeline?.length ? figure(`${name}, over time`, timelinePlot(timeline)) : '',
    ),
    figuresTable(scenario, results),
    ...measured.map(stagesTable),
  ].join('');
}

function section({ results, verdicts, comparisons }: Report, scenario: Scenario): string {
  const parts = [...new Set(results.map(({ part }) => part))].map((part) =>
    partSection(
      scenario,
      part,
      results.filter((result) => result.part === part),
    ),
  );
  const notes = notesOf(results).map((text) => `<p class="note">${escapeHtml(text)}</p>`);
  return `<section id="${scenario.name}"><h2>${scenario.name}</h2><p>${escapeHtml(scenario.title)}</p>${verdictList(verdicts)}${comparisonList(comparisons)}${parts.join('')}${notes.join('')}</section>`;
}

/** One page without external resources. */
export function htmlReport(reports: Report[], scenarios: Scenario[]): string {
  const [first] = reports;
  const { cpu, cores, memoryGiB, kernel, node } = first?.machine ?? ({} as Partial<Machine>);
  const { commit = 'unknown' } = first?.provenance ?? {};
  const machines = first?.clientMachines ? `${first.clientMachines.length} client machines, the first: ` : '';
  const about = `commit ${commit}, ${machines}${cpu}, ${cores} cores, ${memoryGiB} GiB, Linux ${kernel}, Node ${node}, ${first?.at.slice(0, 16).replace('T', ' ')}`;
  const links = reports.map(({ scenario }) => `<a href="#${scenario}">${scenario}</a>`).join('');
  const sections = reports.flatMap((report) =>
    scenarios.filter(({ name }) => name === report.scenario).map((scenario) => section(report, scenario)),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Load tests</title><style>${style}</style></head>
<body><header><h1>Load tests</h1><p>${escapeHtml(about)}</p><nav>${links}</nav>
<p class="legend"><i class="ours"></i>this service <i class="limit"></i>limit <i class="peer"></i>peer. Bars are medians, dots are runs, ± is half the spread.</p></header>
<main>${sections.join('\n')}</main></body></html>
`;
}
