import { writeFileSync } from 'node:fs';
import { readArguments } from './arguments.js';
import { runCommand, UsageError } from './command.js';
import { machine } from './load/machine.js';
import { elsewhere, optionSchema } from './load/options.js';
import { endAllGroups } from './load/process-group.js';
import { htmlReport, type Report } from './load/report/page.js';
import { runScenario } from './load/run-scenario.js';
import { findScenarios, scenarioNames } from './load/scenarios/index.js';
import { table, verdictLines } from './load/table.js';

const usage = `Usage: npm run load -- SCENARIO [options]

Load tests: the service beside its peers and the limit of the machine, in turns, in one run. Each starts
what it needs and ends it again. docs/performance.md tells how, and what came out.

SCENARIO: ${scenarioNames.join(', ')} or all

  --members N     sockets of a room (fanout, cluster), members (idle, storm, announce)
  --rooms N       two-party rooms (chat, cluster)
  --streams N     event streams (idle, announce)
  --documents N   documents in the database (database), five times as many for its restart
  --seconds N     length of a measurement (default 8)
  --rate N        messages per second, where they are paced
  --runs N        turns (default 3)
  --clients N     processes of clients (default 2)
  --only TEXT     contenders whose names contain one of these texts, separated by |
  --json FILE     the results as JSON
  --html FILE     a report with plots
  --profile DIR   CPU profiles of the measured processes

An installation that runs already, without peers, and as far as it can be seen from outside (fanout, chat,
storm; it needs one adoption post, and RATE_LIMIT=off):
  --http URL --gateway URL --secret JWT_SECRET`;

const OPTIONS = Object.keys(optionSchema.shape);

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: Object.fromEntries(OPTIONS.map((name) => [name, { type: 'string' as const }])),
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new UsageError('one scenario is needed');
  const parsed = optionSchema.safeParse(values);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      ({ path, message }) => (path.length > 0 ? `--${path.join('.')}: ` : '') + message,
    );
    for (const fault of faults) process.stderr.write(`${fault}\n`);
    return 2;
  }
  const options = parsed.data;
  const scenarios = findScenarios(name, elsewhere(options) !== undefined);
  if (typeof scenarios === 'string') throw new UsageError(scenarios);

  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    void endAllGroups();
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const reports: Report[] = [];
  for (const scenario of scenarios) {
    if (interrupted) break;
    const at = new Date().toISOString();
    const results = await runScenario(scenario, options, () => interrupted);
    if (interrupted) break;
    const verdicts = elsewhere(options) ? [] : (scenario.verdicts?.(results, options) ?? []);
    reports.push({ scenario: scenario.name, at, machine: machine(), results, verdicts });
    process.stdout.write(`${[table(scenario, results), ...verdictLines(verdicts)].join('\n')}\n\n`);
    const { json, html } = options;
    if (json) writeFileSync(json, `${JSON.stringify(name === 'all' ? reports : reports[0], null, 2)}\n`);
    if (html) writeFileSync(html, htmlReport(reports, scenarios));
  }
  await endAllGroups();
  return interrupted
    ? 130
    : reports.some(({ results }) => results.some(({ missing }) => missing?.startsWith('failed')))
      ? 1
      : 0;
});
