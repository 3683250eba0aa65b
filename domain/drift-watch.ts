/** Compares stored values with their records while a service runs: slowly, in one process at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Check, Checked, Finding } from './kernel/verification.js';
import { BEAT_EVERY_MS } from './platform/cluster/heartbeat.model.js';
import { databaseTime } from './platform/mongo/database-time.js';
import { endPass, readPass, takePass, type VerifyPass } from './platform/mongo/verify-pass.model.js';
import type { Logger } from './platform/observe/logger.js';
import { metrics } from './platform/observe/metrics.js';

/** Records that a pass reads in a second; what it costs: docs/decisions/import-and-verify.md. */
const RECORDS_PER_SECOND = 2_000;

/** Differences of a pass that are logged one by one, and remembered so that the next pass does not log them again. */
const LOGGED_PER_PASS = 1_000;

/** Intervals without a complete pass that are a fault. */
const LATE_INTERVALS = 3;

/** Least time without a complete pass that is a fault, ms: with a short interval, passes take longer than that. */
const LATE_AFTER_MS = 86_400_000;

export interface DriftWatchOptions {
  /** Time from the start of a pass to that of the next, ms. */
  everyMs: number;
  checks: () => Check[];
  /** Under which this process beats. */
  name: string;
  logger: Logger;
  recordsPerSecond?: number;
}

/** @returns a pause to call after each batch: keeps the reads at `perSecond` records, and does not catch up after a delay */
function createPace(perSecond: number, signal: AbortSignal) {
  let next = performance.now();
  return async (records: number): Promise<void> => {
    next = Math.max(next, performance.now()) + (records / perSecond) * 1_000;
    await sleep(next - performance.now(), undefined, { signal, ref: false });
  };
}

const keyOf = ({ kind, record }: Finding) => `${kind} ${record}`;

/** Looks regularly whether a pass is due, and runs it here if no other process does. */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  /** What the last pass of this process found. */
  #known: ReadonlySet<string> = new Set();
  /** Whether the last look failed. */
  #isFailing = false;
  /** Until when no pass is due (performance.now()); while another process runs one, it may die at any time. */
  #idleUntil = Number.NEGATIVE_INFINITY;
  /** From when on the lack of a complete pass is a fault, ms since 1970. */
  #lateAt: number | undefined;
  #stopShowing: (() => void) | undefined;

  constructor(options: DriftWatchOptions) {
    this.#options = options;
    const look = () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    };
    this.#timer = setInterval(look, Math.min(options.everyMs, BEAT_EVERY_MS)).unref();
    look();
  }

  /** Ends a pass that runs here; another process begins it again. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#looking;
    this.#stopShowing?.();
  }

  async #look(): Promise<void> {
    const { name, everyMs, logger } = this.#options;
    if (performance.now() < this.#idleUntil) return;
    try {
      const startedAt = await takePass(name, everyMs);
      if (startedAt) await this.#run(startedAt);
      await this.#show();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        logger.warn({ err: error }, 'stored values could not be compared with their records; retrying later');
      this.#isFailing = true;
    }
  }

  /** Shows the last pass, whichever process ran it. */
  async #show(): Promise<void> {
    const last = await readPass();
    if (!last) return;
    const { everyMs } = this.#options;
    const { holder, startedAt, doneAt, differences = 0, since }: VerifyPass = last;
    if (holder === null) {
      const dueInMs = startedAt.getTime() + everyMs - (await databaseTime()).getTime();
      this.#idleUntil = performance.now() + dueInMs;
    }
    if (doneAt) {
      metrics.verifyCompleted.set(doneAt.getTime() / 1_000);
      metrics.verifyDifferences.set(differences);
    }
    const lateAfterMs = Math.max(LATE_INTERVALS * everyMs, LATE_AFTER_MS);
    this.#lateAt = (doneAt ?? since).getTime() + lateAfterMs;
    this.#stopShowing ??= metrics.verifyLate.watch(() => (this.#lateAt as number) / 1_000);
  }

  async #run(startedAt: Date): Promise<void> {
    const { name, logger } = this.#options;
    const { signal } = this.#closing;
    const begun = performance.now();
    try {
      const { records, differences } = await this.#checkAll(signal);
      await endPass(name, startedAt, { doneAt: await databaseTime(), differences });
      const seconds = Math.round((performance.now() - begun) / 1_000);
      if (differences === 0) logger.info({ records, seconds }, 'all stored values agree with their records');
      else
        logger.warn(
          { records, seconds, differences },
          'stored values differ from their records: npm run verify',
        );
    } catch (error) {
      // A stopping process leaves the pass to another; after a fault, the next one is tried when it is due.
      await endPass(name, startedAt, { startedAt: signal.aborted ? new Date(0) : startedAt });
      if (!signal.aborted) throw error;
    }
  }

  async #checkAll(signal: AbortSignal): Promise<{ records: number; differences: number }> {
    const { checks, recordsPerSecond = RECORDS_PER_SECOND } = this.#options;
    const pace = createPace(recordsPerSecond, signal);
    const found = new Set<string>();
    let [records, differences] = [0, 0];
    const checked: Checked = (count, isAgain) => {
      if (!isAgain) records += count;
      return pace(count);
    };
    for (const check of checks()) {
      for await (const finding of check.run(checked)) {
        differences += 1;
        this.#report(finding, found);
      }
    }
    this.#known = found;
    return { records, differences };
  }

  #report(finding: Finding, found: Set<string>): void {
    const { area, kind, record, found: stored, expected, text } = finding;
    metrics.verifyDrift.inc({ kind });
    const key = keyOf(finding);
    if (found.size < LOGGED_PER_PASS && !found.has(key)) {
      found.add(key);
      const fields = { area, kind, record, found: stored, expected };
      if (!this.#known.has(key)) this.#options.logger.warn(fields, `a stored value differs: ${text}`);
    }
  }
}
