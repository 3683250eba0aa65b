import { accessSync, constants } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { checkArguments, readArguments } from './command/read-arguments.js';
import { InvalidArguments, runCommand, UsageError } from './command/run-command.js';
import { incomparable, readReports } from './load/baseline.js';
import { machine } from './load/machine.js';
import { type Metric, metrics } from './load/metrics.js';
import {
  type LoadOptions,
  type Outputs,
  optionSchema,
  remoteTargetOf,
  scenarioOptions,
} from './load/options.js';
import { judge, judgeAgain, print, renewBaseline, statusOf, writeFiles } from './load/outcome.js';
import { endAllGroups } from './load/process-group.js';
import { provenance } from './load/provenance.js';
import { openRemoteTarget, type RemoteTarget } from './load/remote-target.js';
import type { Report } from './load/report.js';
import { contendersOf, runScenario } from './load/run-scenario.js';
import type { Result, Scenario } from './load/scenario.js';
import { findScenarios, scenarioNames } from './load/scenarios/index.js';

const usage = `Usage: npm run load -- SCENARIO [options]

Load tests: the service, its peers and the limit of the machine, in alternating turns of one run. Each
starts what it needs and stops it again. Method and results: docs/performance.md.

SCENARIO: ${scenarioNames.join(', ')}, or all of them

  --members N     sockets of a room (fanout, cluster, jitter, deploy), members (idle, storm, announce)
  --rooms N       two-party rooms (chat, cluster), open ones (silence)
  --streams N     event streams (idle, announce)
  --documents N   documents in the database (database), five times as many for its restart
  --seconds N     duration of a measurement (default 8); jitter and deploy take 15 times as long, silence 8 times.
                  With less than the default the run is short: warm-ups take no longer than N, announce measures
                  N announcements instead of five, soak takes less than its 10 minutes in proportion, and nothing
                  is judged but losses. Where builds are compared (1 at least) warm-ups are whole, announce and
                  soak as by default, silence takes 60 s at least, overload 8 s, and bounds are judged
  --minutes N     duration of the soak (default 10), of twice the load (overload; default as long as the rest)
  --rate N        messages per second, where they are paced
  --runs N        turns (default 3, to compare builds 5; soak and silence 1)
  --clients N     client processes (default 2; http, silence and database always have one)
  --only TEXT     contenders whose names contain one of these texts, separated by |
  --json FILE     writes the results as JSON
  --save-baseline FILE
                  writes the results for --baseline: five turns that count, without peers unless --only names them;
                  together with --baseline, unless the run fails by that
  --baseline FILE makes as many, and compares the service's figures with FILE, written on this machine; what is
                  worse, or misses a bound that FILE does not miss about as far, is measured again at the end
  --profile DIR   writes CPU profiles of the measured processes
  --stages        where the time of the service's messages goes (fanout, chat)

An installation that runs already (fanout, chat, storm), without peers and CPU figures; RATE_LIMIT=off, or
what it refuses is counted as refused:
  --http URL --gateway URL
  --tokens FILE   access tokens, one a line, at least one of an author of adoption posts among the newest 50
                  (default: members are created in the database of the settings, and the settings' key
                  signs their tokens)
  --keep          removes nothing, and lists what stays
It writes two members for each room, one with an adoption post, which everybody sees meanwhile; rooms;
messages; and what follows from them, all of which is removed afterwards. With --tokens it writes rooms and
messages of those members, which stay.

Exit status: 0 every judged bound holds and nothing is worse than the baseline; 99 a bound is missed that the
baseline, if any, does not miss about as far, or a figure is worse; 1 a contender failed; 2 wrong usage, or nothing can be
compared with the baseline; 130 interrupted. What was not measured at the size that a bound is meant for is "not judged",
and does not fail.`;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Options with a value, and those without one, as node:util parseArgs takes them. */
const accepted = Object.fromEntries(
  Object.keys(optionSchema.shape).map((name) => [
    name,
    { type: name === 'keep' || name === 'stages' ? 'boolean' : 'string' } as const,
  ]),
);

/** What would be noticed only after hours of measuring. @throws InvalidArguments if a file cannot be written */
function requireWritable(outputs: Outputs): void {
  const faults = (['json', 'save-baseline'] as const).flatMap((name) => {
    const file = outputs[name];
    try {
      if (file !== undefined) accessSync(dirname(file), constants.W_OK);
      return [];
    } catch (error) {
      return [`--${name}: ${(error as Error).message}`];
    }
  });
  if (faults.length > 0) throw new InvalidArguments(faults);
}

/** @throws InvalidArguments for what none of the scenarios would heed */
function requireHeeded(scenarios: Scenario[], options: LoadOptions): void {
  const names = scenarios.map((scenario) => scenario.name).join(', ');
  const faults = scenarioOptions
    .filter(
      (option) => options[option] !== undefined && !scenarios.some(({ heeds }) => heeds.includes(option)),
    )
    .map((option) => `--${option}: changes nothing in ${names}`);
  if (faults.length > 0) throw new InvalidArguments(faults);
  if (scenarios.every((scenario) => contendersOf(scenario, options).length === 0))
    throw new InvalidArguments([`--only: no line of ${names} has ${options.only} in its name`]);
}

/** @throws InvalidArguments if nothing that is going to be measured can be compared */
function requireComparable(scenarios: Scenario[], options: LoadOptions, baseline: Report[]): void {
  const now = { options, machine: machine() };
  const reasons = scenarios.map((scenario) => incomparable(baseline, scenario, now));
  const [first] = reasons;
  if (first !== undefined && reasons.every((reason) => reason !== undefined))
    throw new InvalidArguments([`--baseline: nothing can be compared: ${first}`]);
}

/** @throws UsageError for a wrong scenario, InvalidArguments for wrong options */
function readCommand(name: string, values: object): { scenarios: Scenario[]; options: LoadOptions } {
  const options = checkArguments(optionSchema, values);
  const scenarios = findScenarios(name, remoteTargetOf(options) !== undefined);
  if (typeof scenarios === 'string') throw new UsageError(scenarios);
  requireHeeded(scenarios, options);
  requireWritable(options);
  return { scenarios, options };
}

function unitsOf(results: Result[]): Report['units'] {
  const measured = results.flatMap(({ figures }) => Object.keys(figures) as Metric[]);
  return Object.fromEntries(measured.map((metric) => [metric, metrics[metric].unit]));
}

/** Runs a scenario. @returns undefined if it was interrupted */
async function measure(
  scenario: Scenario,
  options: LoadOptions,
  remote: RemoteTarget | undefined,
  signal: AbortSignal,
): Promise<Omit<Report, 'verdicts'> | undefined> {
  const at = new Date().toISOString();
  const [loadBefore = 0] = loadavg();
  const results = await runScenario(scenario, options, () => signal.aborted, remote);
  if (signal.aborted) return undefined;
  const [loadAfter = 0] = loadavg();
  return {
    ...{ scenario: scenario.name, at, machine: machine(), loadAverage: [loadBefore, loadAfter] },
    ...{ provenance: provenance(), units: unitsOf(results), options, results },
  };
}

/** @throws InvalidArguments */
function readBaseline({ baseline }: Pick<LoadOptions, 'baseline'>): Report[] | undefined {
  return baseline === undefined ? undefined : readReports('--baseline', baseline);
}

/**
 * Runs scenarios one after another; what is finished is written, also if a later one is interrupted. Doubts are measured
 * again at the end: a slow period of the machine that the reference work does not show may be over by then.
 */
async function runAll(
  scenarios: Scenario[],
  options: LoadOptions,
  isAll: boolean,
  baseline: Report[] | undefined,
  remote: RemoteTarget | undefined,
  signal: AbortSignal,
): Promise<Report[]> {
  const reports: Report[] = [];
  const finish = (i: number, scenario: Scenario, report: Report) => {
    print(scenario, report);
    reports[i] = report;
    writeFiles(reports, isAll, options);
  };
  for (const [i, scenario] of scenarios.entries()) {
    const measured = signal.aborted ? undefined : await measure(scenario, options, remote, signal);
    if (!measured) return reports;
    finish(i, scenario, judge(scenario, measured, baseline));
  }
  for (const [i, scenario] of scenarios.entries()) {
    if (signal.aborted) break;
    const report = await judgeAgain(scenario, reports[i] as Report, baseline, (again, why) => {
      say(`${scenario.name}: measured again, ${why}`);
      return measure(scenario, again, remote, signal);
    });
    if (report) finish(i, scenario, report);
  }
  return reports;
}

/** @returns the exit status */
async function load(name: string, values: object): Promise<number> {
  const { scenarios, options } = readCommand(name, values);
  const baseline = readBaseline(options);
  if (baseline) requireComparable(scenarios, options, baseline);
  const interrupt = new AbortController();
  let cleanedUp: ReturnType<typeof endAllGroups> | undefined;
  let remote: RemoteTarget | undefined;
  const stop = () => {
    if (remote && !interrupt.signal.aborted) say('interrupted: cleaning up');
    interrupt.abort();
    cleanedUp ??= endAllGroups();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  let reports: Report[] = [];
  try {
    remote = await openRemoteTarget(options, say, interrupt.signal);
    reports = await runAll(scenarios, options, name === 'all', baseline, remote, interrupt.signal);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
  } finally {
    try {
      await endAllGroups();
    } finally {
      for (const line of (await remote?.close()) ?? []) say(line);
    }
  }
  if (!cleanedUp) {
    renewBaseline(reports, options);
    return statusOf(reports);
  }
  const { processes, folders } = await cleanedUp;
  const finished = reports.map(({ scenario }) => scenario).join(', ') || 'no scenario';
  say(
    `interrupted: ${processes} processes stopped, ${folders} temporary folders removed; finished: ${finished}`,
  );
  return 130;
}

await runCommand(usage, async (args) => {
  const { values, positionals } = readArguments({ args, allowPositionals: true, options: accepted });
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) throw new UsageError('one scenario is needed');
  return load(name, values);
});
