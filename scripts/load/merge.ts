import { isDeepStrictEqual } from 'node:util';
import { InvalidArguments } from '../command/run-command.js';
import { isSame, readReports } from './baseline.js';
import { encode, merge, percentiles } from './latency.js';
import { commonOptions, type LoadOptions, scenarioOptions } from './options.js';
import type { Report } from './report/page.js';
import { resultOf } from './run-scenario.js';
import type { Measured, Result } from './scenario.js';
import type { PlottedSecond } from './timeline.js';
import { voidReason } from './void-turn.js';

/** Figures that client machines add up; of others the highest of all machines counts. */
const SUMS = ['delivered', 'refused', 'repeated', 'lost', 'afterEnd', 'perSecond'] as const;
const HIGHEST = ['clients', 'late', 'others', 'steal', 'duration'] as const;

/** Least share of a turn in which all machines measured, for it to count. */
const LEAST_TOGETHER = 0.8;

/** Options that all machines have in common. */
const COMMON: (keyof LoadOptions)[] = [...scenarioOptions, ...commonOptions, 'runs', 'only'];

/** Seconds of all machines: counts are added, and p99 is that of the slowest one. */
function mergeTimelines(timelines: PlottedSecond[][]): PlottedSecond[] {
  const length = Math.min(...timelines.map((seconds) => seconds.length));
  return Array.from({ length }, (_, i) => {
    const all = timelines.flatMap((seconds) => seconds[i] ?? []);
    const total = (count: 'offered' | 'served' | 'refused') => all.reduce((sum, one) => sum + one[count], 0);
    const slowest = all.flatMap(({ p99 }) => p99 ?? []);
    return {
      ...{ offered: total('offered'), served: total('served'), refused: total('refused') },
      ...(slowest.length > 0 && { p99: Math.max(...slowest) }),
    };
  });
}

/** Why a turn does not count: that of one machine did not, or they did not measure at the same time. */
function voidOf(turns: Measured[]): string | undefined {
  for (const [i, turn] of turns.entries()) {
    const reason = voidReason(turn);
    if (reason !== undefined) return `machine ${i + 1}: ${reason}`;
  }
  const times = turns.flatMap(({ during }) => (during ? [during] : []));
  const longest = Math.max(...times.map(([from, to]) => to - from));
  const together = Math.min(...times.map(([, to]) => to)) - Math.max(...times.map(([from]) => from));
  if (together >= longest * LEAST_TOGETHER) return undefined;
  const share = Math.max(0, Math.round((together / longest) * 100));
  return `the machines measured at the same time for only ${share} % of the turn`;
}

/** One turn of all machines. */
export function mergeTurns(turns: Measured[]): Measured {
  const merged: Measured = {};
  const known = (metric: (typeof SUMS | typeof HIGHEST)[number]) =>
    turns.flatMap((turn) => turn[metric] ?? []);
  for (const metric of SUMS) {
    const values = known(metric);
    if (values.length > 0) merged[metric] = values.reduce((sum, value) => sum + value, 0);
  }
  for (const metric of HIGHEST) {
    const values = known(metric);
    if (values.length > 0) merged[metric] = Math.max(...values);
  }
  const encoded = turns.flatMap(({ latencies }) => latencies ?? []);
  if (encoded.length > 0) {
    const latencies = merge(encoded);
    Object.assign(merged, percentiles(latencies), { latencies: encode(latencies) });
  }
  const timelines = turns.flatMap(({ timeline }) => (timeline ? [timeline] : []));
  if (timelines.length > 0) merged.timeline = mergeTimelines(timelines);
  const reason = voidOf(turns);
  return reason === undefined ? merged : { ...merged, void: reason };
}

/** One line of all machines, turn by turn. */
function mergeLine(of: Result[]): Result {
  const [first] = of as [Result];
  const failures = of.flatMap(({ missing }, i) => (missing ? [`machine ${i + 1} ${missing}`] : []));
  const turns = Math.min(...of.map(({ measured = [] }) => measured.length));
  const merged = Array.from({ length: turns }, (_, k) =>
    mergeTurns(of.map(({ measured }) => measured?.[k] ?? {})),
  );
  const failure = failures.length > 0 ? `failed: ${failures.join('; ')}` : undefined;
  const { missing: _, ...entry } = first;
  return resultOf(entry, merged, failure);
}

/** Why a report is not a part of the same run as the first of all; undefined if it may be. */
function faultOf({ options }: Report, first: Report, count: number): string | undefined {
  if (!options.shard) return 'was not measured with --shard';
  if (options.shard.of !== count) return `is one of ${options.shard.of} parts, not of ${count}`;
  const other = COMMON.find((option) => !isDeepStrictEqual(options[option], first.options[option]));
  return other && `was measured with another --${other}`;
}

/** @throws InvalidArguments unless these are the parts of one run, each once */
function requireParts(files: string[], parts: Report[][]): void {
  const [first] = parts.flat();
  const faults = parts.flatMap((reports, i) =>
    reports.flatMap((report) => {
      const fault = faultOf(report, first as Report, files.length);
      return fault ? [`${files[i]}, ${report.scenario}: ${fault}`] : [];
    }),
  );
  if (faults.length > 0) throw new InvalidArguments(faults);
  const numbers = parts.map(([report]) => report?.options.shard?.index);
  if (new Set(numbers).size < files.length)
    throw new InvalidArguments([`${files.join(', ')}: are parts ${numbers.join(', ')}, each is needed once`]);
}

/** One scenario of all machines: what was measured, without verdicts. */
function mergeScenario(of: Report[]): Omit<Report, 'verdicts'> {
  const [first] = of as [Report];
  const { verdicts: _, comparisons: _none, ...report } = first;
  const { shard: _part, ...options } = first.options;
  return {
    ...report,
    at: of.map(({ at }) => at).sort()[0] as string,
    clientMachines: of.map(({ machine }) => machine),
    options,
    results: first.results.map((line) => mergeLine(of.map((one) => lineIn(one, line)))),
  };
}

function lineIn({ results }: Report, line: Result): Result {
  const found = results.find((one) => isSame(one, line));
  return found ?? { ...line, missing: 'did not measure it', measured: [] };
}

/**
 * Merges what several client machines measured at the same time: counts and rates are added, latencies are those of all.
 * @param files written by `--shard I/N --json`
 * @throws InvalidArguments if they are not the parts of one run
 */
export function mergeFiles(files: string[]): Omit<Report, 'verdicts'>[] {
  const parts = files.map((file) => readReports(file, file));
  requireParts(files, parts);
  const numberOf = ([report]: Report[]) => report?.options.shard?.index ?? 0;
  const [first = [], ...others] = parts.sort((a, b) => numberOf(a) - numberOf(b));
  return first.map((report) => {
    const same = others.map((one) => one.find(({ scenario }) => scenario === report.scenario));
    return mergeScenario([report, ...same.map((found) => found ?? { ...report, results: [] })]);
  });
}
