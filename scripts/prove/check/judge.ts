import type { Header, HistoryLine, Invoke } from '../history.js';
import { type Counted, type CountedName, nameOfCounted } from './facts/coverage.js';
import type { Sighting } from './facts/messages.js';
import { Run } from './facts/run.js';
import { rarePaths } from './rare/index.js';
import { Reached } from './reached.js';
import { readLines } from './read-lines.js';
import { at, type Watcher } from './rule.js';
import { rules } from './rules/index.js';

/** One way in which a promise was broken. */
export interface Violation {
  /** The rule's name. */
  rule: string;
  /** What was seen, with clients and times. */
  text: string;
  /** When, ms of the history. */
  t: number;
}

interface HistoryCounts {
  lines: number;
  operations: number;
  /** Operations of unknown outcome. */
  unanswered: number;
  /** Messages that clients tried to send. */
  messages: number;
  acknowledged: number;
  deliveries: number;
}

/** What a history shows. */
export interface Verdict {
  /** `unknown`: nothing is broken, but something that was to be tried was not. */
  outcome: 'holds' | 'broken' | 'unknown';
  seed: number;
  version: string;
  /** The first MAX_LISTED of each rule, in order of time. */
  violations: Violation[];
  /** All violations, by rule. */
  broken: Record<string, number>;
  coverage: Counted & { faults: Record<string, number> };
  /** How often each fault struck. */
  strikes: Record<string, number>;
  /** What the processes mended, by their own counts, and how many of it only a loss causes. */
  repairs: Record<string, number>;
  losses: number;
  /** Why the outcome is `unknown`. */
  missing: string[];
  counts: HistoryCounts;
}

/** Violations of a rule that are listed; the others are counted. */
const MAX_LISTED = 20;

/**
 * Judges a history line by line, in one pass. What it keeps grows with the messages, comments and notifications, not
 * with the lines.
 */
export class Judge {
  readonly #run = new Run();
  readonly #reached = new Reached(this.#run);
  readonly #violations: Violation[] = [];
  readonly #broken = new Map<string, number>();
  readonly #asked = new Map<number, Invoke>();
  readonly #counts: HistoryCounts = {
    ...{ lines: 0, operations: 0, unanswered: 0, messages: 0, acknowledged: 0, deliveries: 0 },
  };
  readonly #watchers: Watcher[] = [
    ...rules.map((rule) => rule.watch(this.#run, (text, t) => this.#report(rule.name, text, t))),
    ...rarePaths.map((watch) => watch(this.#run)),
  ];
  readonly #strikes = new Map<string, number>();
  #header: Header | undefined;

  #report(rule: string, text: string, t = this.#run.now): void {
    const count = (this.#broken.get(rule) ?? 0) + 1;
    this.#broken.set(rule, count);
    if (count <= MAX_LISTED) this.#violations.push({ rule, text, t });
  }

  /** Violations so far, the first MAX_LISTED of each rule, in the order in which they were found. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** What the history has not reached so far, a line each. */
  missing(): string[] {
    this.#reached.count();
    const missing = this.#reached.missing();
    if (!this.#run.hasEnded)
      missing.unshift('the history ends before its run: it has no line for the phase "end"');
    return missing;
  }

  /** @throws Error if the line does not fit those before it */
  read(line: HistoryLine): void {
    this.#counts.lines += 1;
    if (!this.#header && line.e !== 'header') throw new Error('the history must begin with its header');
    if (line.t < this.#run.now)
      throw new Error(`t: is ${line.t}, and was ${this.#run.now} before; lines are in the order of time`);
    this.#run.now = line.t;
    switch (line.e) {
      case 'header':
        this.#begin(line);
        break;
      case 'phase':
        this.#run.phase = line.phase;
        for (const watcher of this.#watchers) watcher.phase?.(line);
        break;
      case 'fault':
        if (line.phase === 'begin') this.#strikes.set(line.fault, (this.#strikes.get(line.fault) ?? 0) + 1);
        this.#run.fault(line);
        this.#reached.fault(line);
        break;
      case 'invoke':
        this.#ask(line);
        break;
      case 'ok':
      case 'fail':
      case 'info':
        this.#settle(line);
        break;
      case 'closed':
        this.#run.closed(line);
        this.#reached.closed(line);
        for (const watcher of this.#watchers) watcher.closed?.(line);
        break;
      case 'delivery':
        this.#deliver(line);
        break;
      case 'counts':
        this.#run.repairs.add(line.counts);
        this.#reached.counts(line);
        break;
    }
  }

  #begin(header: Header): void {
    if (this.#header) throw new Error('there is a second header');
    this.#header = header;
    this.#run.header(header);
    this.#reached.header(header);
    for (const watcher of this.#watchers) watcher.header?.(header);
  }

  #ask(invoke: Invoke): void {
    if (this.#asked.has(invoke.op)) throw new Error(`operation ${invoke.op} is asked for twice`);
    this.#asked.set(invoke.op, invoke);
    this.#counts.operations += 1;
    this.#reached.asked(invoke);
    this.#run.asked(invoke);
    for (const watcher of this.#watchers) watcher.asked?.(invoke);
  }

  #settle(line: Extract<HistoryLine, { e: 'ok' | 'fail' | 'info' }>): void {
    const asked = this.#asked.get(line.op);
    if (!asked) throw new Error(`operation ${line.op} was not asked for, or has ended before`);
    this.#asked.delete(line.op);
    if (line.e === 'info') this.#counts.unanswered += 1;
    if (line.e !== 'ok') {
      this.#reached.settled(asked);
      this.#run.unanswered(line, asked);
      for (const watcher of this.#watchers) watcher.unanswered?.(line, asked);
      return;
    }
    if (line.f !== asked.f) throw new Error(`operation ${line.op} is a ${asked.f}, not a ${line.f}`);
    this.#run.answered(line, asked);
    for (const sighting of this.#run.shownBy(line, asked)) this.#see(sighting);
    this.#reached.answered(line, asked);
    for (const watcher of this.#watchers) watcher.answered?.(line, asked);
  }

  #see(sighting: Sighting): void {
    this.#run.messages.see(sighting);
    for (const watcher of this.#watchers) watcher.saw?.(sighting);
  }

  #deliver(line: Extract<HistoryLine, { e: 'delivery' }>): void {
    this.#counts.deliveries += 1;
    this.#run.delivered(line);
    this.#reached.delivered(line);
    const sighting = this.#run.pushedBy(line);
    if (sighting) this.#see(sighting);
    for (const watcher of this.#watchers) watcher.delivered?.(line);
  }

  /** Whether a fault of this kind has met something that it could hurt. */
  hasMet(fault: string): boolean {
    return (this.#run.coverage.faults.get(fault) ?? 0) > 0;
  }

  /** What clients have not reached yet, although they can. */
  lacking(): CountedName[] {
    return this.#reached.lacking();
  }

  /** The verdict. To be called once, after the last line. @throws Error if there was none */
  end(): Verdict {
    const header = this.#header;
    if (!header) throw new Error('the history is empty');
    for (const watcher of this.#watchers) watcher.end?.();
    const missing = this.missing();
    this.#counts.unanswered += this.#asked.size;
    this.#counts.messages = this.#run.messages.size;
    for (const { ackedAt } of this.#run.messages.all())
      if (ackedAt !== undefined) this.#counts.acknowledged += 1;
    const { counts, faults } = this.#run.coverage;
    return {
      outcome: this.#broken.size > 0 ? 'broken' : missing.length > 0 ? 'unknown' : 'holds',
      seed: header.seed,
      version: header.version,
      violations: this.#violations.sort((a, b) => a.t - b.t),
      broken: Object.fromEntries(this.#broken),
      coverage: { ...counts, faults: Object.fromEntries(faults) },
      strikes: Object.fromEntries(this.#strikes),
      repairs: Object.fromEntries(this.#run.repairs.counts),
      losses: this.#run.repairs.losses,
      missing,
      counts: this.#counts,
    };
  }
}

/**
 * Judges a history.
 * @param lines NDJSON, as history.ts describes it
 * @throws Error naming the number of a line that is no part of a history
 */
export async function judge(lines: AsyncIterable<string>): Promise<Verdict> {
  const judge = new Judge();
  for await (const { line, number } of readLines(lines)) {
    try {
      judge.read(line);
    } catch (error) {
      throw new Error(`line ${number}: ${(error as Error).message}`, { cause: error });
    }
  }
  return judge.end();
}

/** What was lost, as a share of the deliveries, and everything that was mended. */
function rateOf({ losses, repairs, counts }: Verdict): string {
  const mended = Object.entries(repairs).flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []));
  const share = ((100 * losses) / Math.max(1, counts.deliveries)).toFixed(2);
  return `${losses} of ${counts.deliveries} deliveries (${share} %)${mended.length > 0 ? `; ${mended.join(', ')}` : ''}`;
}

/** The verdict as text, for people. */
export function describeVerdict(verdict: Verdict): string {
  const { outcome, violations, broken, coverage, strikes, missing, counts } = verdict;
  const { faults, ...reached } = coverage;
  const struck = Object.entries(strikes).map(([fault, times]) => `${fault} ${times}`);
  const lines = [
    `${outcome}: ${counts.operations} operations, ${counts.unanswered} of them unanswered; ${counts.messages} messages, ${counts.acknowledged} of them acknowledged; ${counts.deliveries} deliveries (seed ${verdict.seed}, version ${verdict.version})`,
    `strikes: ${struck.join(', ') || 'none'}`,
    `lost and mended: ${rateOf(verdict)}`,
  ];
  for (const { name, says } of rules) {
    const count = broken[name];
    if (count === undefined) continue;
    lines.push('', `broken: ${name} (${count}): ${says}`);
    const listed = violations.filter(({ rule }) => rule === name);
    for (const { t, text } of listed) lines.push(`  ${at(t)}  ${text}`);
    if (count > listed.length) lines.push(`  and ${count - listed.length} more`);
  }
  if (missing.length > 0) lines.push('', ...missing.map((line) => `unknown: ${line}`));
  lines.push('', 'reached:');
  for (const [what, count] of Object.entries(reached)) {
    lines.push(`  ${String(count).padStart(7)}  ${nameOfCounted(what as CountedName)}`);
  }
  for (const [fault, count] of Object.entries(faults)) {
    lines.push(
      `  ${String(count).padStart(7)}  requests, deliveries and connections that ${fault} could hurt`,
    );
  }
  return lines.join('\n');
}
