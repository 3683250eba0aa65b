import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { compareWith, comparisonLines, readBaseline } from './load/baseline.js';
import { machine } from './load/machine.js';
import { type Metric, metrics } from './load/metrics.js';
import { type LoadOptions, optionSchema, remoteTargetOf } from './load/options.js';
import { endAllGroups } from './load/process-group.js';
import { provenance } from './load/provenance.js';
import { requireReachable } from './load/remote-target.js';
import { benchmarks } from './load/report/benchmark-action.js';
import { writeHistograms } from './load/report/histograms.js';
import { htmlReport, type Report } from './load/report/page.js';
import { runScenario } from './load/run-scenario.js';
import type { Result, Scenario } from './load/scenario.js';
import { findScenarios, scenarioNames } from './load/scenarios/index.js';
import { table, verdictLines } from './load/table.js';
import { unlessTooShort } from './load/verdict.js';

const usage = `Usage: npm run load -- SCENARIO [options]

Load tests: the service, its peers and the limit of the machine, in alternating turns of one run. Each
starts what it needs and stops it again. Method and results: docs/performance.md.

SCENARIO: ${scenarioNames.join(', ')} or all

  --members N     sockets of a room (fanout, cluster), members (idle, storm, announce)
  --rooms N       two-party rooms (chat, cluster)
  --streams N     event streams (idle, announce)
  --documents N   documents in the database (database), five times as many for its restart
  --seconds N     duration of a measurement (default 8)
  --minutes N     duration of the soak (default 10), of twice the load (overload; default --seconds)
  --rate N        messages per second, where they are paced
  --runs N        turns (default 3; soak 1)
  --clients N     client processes (default 2)
  --only TEXT     contenders whose names contain one of these texts, separated by |
  --json FILE     writes the results as JSON, and latencies beside it (.hgrm, percentiles in ms)
  --format FORM   of that file: report (default), or github-action-benchmark (tool customSmallerIsBetter)
  --html FILE     writes a report with plots
  --baseline FILE compares each figure with those that --json wrote earlier on this machine; five turns
  --profile DIR   writes CPU profiles of the measured processes

For an existing installation, without peers and CPU figures (fanout, chat, storm; it needs an adoption
post and RATE_LIMIT=off):
  --http URL --gateway URL --secret=JWT_SECRET

Exit status: 0 every judged bound holds and nothing is worse than the baseline; 99 one is missed, or worse;
1 a contender failed; 2 wrong usage; 130 interrupted. What was not measured at the size that a bound is meant
for is "not judged", and does not fail.`;

/** Exit status of a missed bound or a regression. */
const MISSED = 99;

/** @throws UsageError for a wrong scenario, InvalidArguments for wrong options */
function readCommand(args: string[]): { scenarios: Scenario[]; all: boolean; options: LoadOptions } {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.keys(optionSchema.shape).map((name) => [name, { type: 'string' as const }]),
    ),
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new UsageError('one scenario is needed');
  const options = checkArguments(optionSchema, values);
  const scenarios = findScenarios(name, remoteTargetOf(options) !== undefined);
  if (typeof scenarios === 'string') throw new UsageError(scenarios);
  return { scenarios, all: name === 'all', options };
}

/** Runs a scenario and prints its table. @returns undefined if it was interrupted */
async function report(
  scenario: Scenario,
  options: LoadOptions,
  baseline: Report[] | undefined,
  interrupted: () => boolean,
): Promise<Report | undefined> {
  const at = new Date().toISOString();
  const [loadBefore = 0] = loadavg();
  const results = await runScenario(scenario, options, interrupted);
  if (interrupted()) return undefined;
  const verdicts = remoteTargetOf(options)
    ? []
    : unlessTooShort(options, scenario.verdicts(results, options));
  const { secret: _, ...shown } = options;
  const [loadAfter = 0] = loadavg();
  const measured: Report = {
    ...{ scenario: scenario.name, at, machine: machine(), loadAverage: [loadBefore, loadAfter] },
    ...{ provenance: provenance(), units: unitsOf(results), options: shown, results, verdicts },
  };
  const comparisons = baseline && compareWith(baseline, measured);
  const lines = [...verdictLines(verdicts), ...(comparisons ? comparisonLines(comparisons) : [])];
  process.stdout.write(`${[table(scenario, results), ...lines].join('\n')}\n\n`);
  return { ...measured, ...(comparisons && { comparisons }) };
}

function unitsOf(results: Result[]): Report['units'] {
  const measured = results.flatMap(({ figures }) => Object.keys(figures) as Metric[]);
  return Object.fromEntries(measured.map((metric) => [metric, metrics[metric].unit]));
}

function writeFiles(reports: Report[], scenarios: Scenario[], all: boolean, options: LoadOptions): void {
  const { json, html, format } = options;
  const content = format === 'report' ? (all ? reports : reports[0]) : benchmarks(reports);
  if (json) writeFileSync(json, `${JSON.stringify(content, null, 2)}\n`);
  if (json) writeHistograms(json, reports);
  if (html) writeFileSync(html, htmlReport(reports, scenarios));
}

function statusOf(reports: Report[]): number {
  if (reports.some(({ results }) => results.some(({ missing }) => missing?.startsWith('failed')))) return 1;
  const missed = reports.some(
    ({ verdicts, comparisons = [] }) =>
      verdicts.some(({ outcome }) => outcome === 'misses') ||
      comparisons.some(({ outcome }) => outcome === 'regressed'),
  );
  return missed ? MISSED : 0;
}

/** What an interrupted run leaves. */
function interruptedText(
  { processes, folders }: Awaited<ReturnType<typeof endAllGroups>>,
  reports: Report[],
  options: LoadOptions,
): string {
  const finished = reports.map(({ scenario }) => scenario).join(', ') || 'no scenario';
  const left = remoteTargetOf(options) ? `; members, rooms and messages stay at ${options.http}` : '';
  return `interrupted: ${processes} processes stopped, ${folders} temporary folders removed${left}; finished: ${finished}`;
}

await runCommand(usage, async (args) => {
  const { scenarios, all, options } = readCommand(args);
  const baseline = options.baseline === undefined ? undefined : readBaseline(options.baseline);
  const remote = remoteTargetOf(options);
  if (remote) await requireReachable(remote);
  let interrupted = false;
  let cleanedUp: ReturnType<typeof endAllGroups> | undefined;
  const interrupt = () => {
    interrupted = true;
    cleanedUp ??= endAllGroups();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const reports: Report[] = [];
  for (const scenario of scenarios) {
    const done = interrupted ? undefined : await report(scenario, options, baseline, () => interrupted);
    if (!done) break;
    reports.push(done);
    writeFiles(reports, scenarios, all, options);
  }
  await endAllGroups();
  if (!cleanedUp) return statusOf(reports);
  process.stderr.write(`${interruptedText(await cleanedUp, reports, options)}\n`);
  return 130;
});
