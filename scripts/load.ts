import { writeFileSync } from 'node:fs';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { runCommand, UsageError } from './command/run-command.js';
import { machine } from './load/machine.js';
import { type LoadOptions, optionSchema, remoteTargetOf } from './load/options.js';
import { endAllGroups } from './load/process-group.js';
import { htmlReport, type Report } from './load/report/page.js';
import { runScenario } from './load/run-scenario.js';
import type { Scenario } from './load/scenario.js';
import { findScenarios, scenarioNames } from './load/scenarios/index.js';
import { table, verdictLines } from './load/table.js';

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
  --json FILE     writes the results as JSON
  --html FILE     writes a report with plots
  --profile DIR   writes CPU profiles of the measured processes

For an existing installation, without peers and CPU figures (fanout, chat, storm; it needs an adoption
post and RATE_LIMIT=off):
  --http URL --gateway URL --secret=JWT_SECRET`;

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
  interrupted: () => boolean,
): Promise<Report | undefined> {
  const at = new Date().toISOString();
  const results = await runScenario(scenario, options, interrupted);
  if (interrupted()) return undefined;
  const verdicts = remoteTargetOf(options) ? [] : scenario.verdicts(results, options);
  process.stdout.write(`${[table(scenario, results), ...verdictLines(verdicts)].join('\n')}\n\n`);
  return { scenario: scenario.name, at, machine: machine(), results, verdicts };
}

await runCommand(usage, async (args) => {
  const { scenarios, all, options } = readCommand(args);
  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
    void endAllGroups();
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const reports: Report[] = [];
  for (const scenario of scenarios) {
    const done = interrupted ? undefined : await report(scenario, options, () => interrupted);
    if (!done) break;
    reports.push(done);
    const { json, html } = options;
    if (json) writeFileSync(json, `${JSON.stringify(all ? reports : done, null, 2)}\n`);
    if (html) writeFileSync(html, htmlReport(reports, scenarios));
  }
  await endAllGroups();
  if (interrupted) return 130;
  const failed = reports.some(({ results }) => results.some(({ missing }) => missing?.startsWith('failed')));
  return failed ? 1 : 0;
});
