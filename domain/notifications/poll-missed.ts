import { joinNext } from '../platform/async/shared-runs.js';
import { onRestore } from '../platform/cluster/restores.js';
import { highestNumber } from '../platform/mongo/sequence.model.js';
import type { Logger } from '../platform/observe/logger.js';
import type { Report, Reports } from '../platform/redis/reports.js';
import { type IdRange, MissingIds, rangesOf } from './missing-ids.js';
import { type MissedNotification, Notification, readIds, readMissed } from './notification.model.js';

/** Interval between polls, ms. */
const EVERY_MS = 5_000;

/** The same of the process on duty, which polls for all, ms. */
const ON_DUTY_EVERY_MS = 2_000;

/** Interval between looks whether a poll is due, ms. */
const CHECK_EVERY_MS = 1_000;

/**
 * Time, ms, after which the process on duty takes a notification for unpublished of which no process has reported
 * that it published it: two reports.
 */
const UNREPORTED_MS = 2_000;

/**
 * Time, ms, for which a process that is not on duty remembers what its polls found, once it counts as unpublished. If it takes
 * the duty meanwhile, it names that: what was stored after the last poll of others, only its own poll may have found.
 */
const BEFORE_DUTY_MS = 10_000;

/**
 * After a loss, other processes skip what the process on duty had read this many polls before. What it missed then, because a
 * writer or a report was late, later polls have found and named.
 */
const POLLS_BEHIND = 6;

/** Delay of a requested poll, ms: requests within it share one poll. */
const SOON_MS = 50;

/** Most ids read at a time. */
const PAGE = 5_000;

/** Most records read and delivered at a time: the event loop serves others in between. */
const BATCH = 1_000;

/** Most ranges of missing ids in one query. */
const RANGES_PER_QUERY = 100;

const readIdsAfter = (after: number) => readIds({ _id: { $gt: after } }, PAGE);

async function readIdsWithin(ranges: IdRange[]): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < ranges.length; i += RANGES_PER_QUERY) {
    const some = ranges
      .slice(i, i + RANGES_PER_QUERY)
      .map(({ from, to }) => ({ _id: { $gte: from, $lte: to } }));
    found.push(...(await readIds({ $or: some }, PAGE)));
  }
  return found;
}

/** What other processes report (platform/redis/reports.ts), as far as the poll needs it. */
export type PollReports = Pick<Reports, 'completeSince' | 'isOnDuty' | 'wasPublished' | 'onReport'>;

interface PollDeps {
  /** Whether this process has delivered a notification already. */
  wasDelivered(id: number): boolean;
  /** Whether a notification has to be delivered to the member here, and was not. */
  lacks(id: number, memberNo: number): boolean;
  /** Called with notifications that this process has not delivered, in order of their ids. */
  deliver(missed: MissedNotification[]): Promise<void>;
  logger: Logger;
  /** Without them, this process polls always. */
  reports: PollReports | undefined;
}

/**
 * Finds notifications that were not pushed to this process, such as those of `npm run announce`, so that they reach
 * open streams and sockets within seconds.
 *
 * While all processes report what they publish, only the one on duty polls, and tells the others what nobody has
 * published; each of them reads what was published for its members and did not arrive. Otherwise each polls.
 *
 * An id is taken before its record is inserted, and the writer may stall in between: ids that are missing
 * when a higher one is seen are searched for again (missing-ids.ts).
 */
export class MissedPoll {
  readonly #deps: PollDeps;
  readonly #missing = new MissingIds();
  /** However often a poll is asked for, one waits at most. */
  readonly #poll = joinNext<void, void>(async () => {
    if (this.#stopped) return;
    try {
      await this.#readNamed();
      if (!this.#isPollDue) return;
      this.#isPollDue = false;
      await this.#pollOnce();
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'a poll for missed notifications failed');
    }
  });
  #isPollDue = false;
  /** When the last complete poll began (performance.now()). */
  #polledAt = Number.NEGATIVE_INFINITY;
  #wasOnDuty = false;
  /** The highest id seen. */
  #lastId = 0;
  /** The highest ids of the last polls, oldest first. */
  readonly #lastIds: number[] = [];
  /** Notifications to be read: reported as unpublished, or as published for a member here. */
  #named = new Set<number>();
  /** Reported as published for members here, by when the push is late (performance.now()). */
  #expected: { id: number; memberNo: number; lateAt: number }[] = [];
  /** On duty: found and not reported as published, by when they count as unpublished. */
  #unreported: { ids: number[]; lateAt: number }[] = [];
  /** Not on duty: the same, in case it takes the duty. */
  #foundBefore: { ids: number[]; lateAt: number }[] = [];
  /** On duty: what the others are to be told. */
  #unpublished: IdRange[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #stopListening: ((() => void) | undefined)[] = [];
  /** Whether the database has become an older copy since the last poll. */
  #isRestored = false;
  /** Until when the others may report numbers of before that (performance.now()). */
  #strangeUntil = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: PollDeps) {
    this.#deps = deps;
  }

  /** Notifications stored before are left to the streams, which read them when they open. */
  async start(): Promise<void> {
    await this.#begin();
    this.#stopListening = [
      this.#deps.reports?.onReport((report) => this.#heed(report)),
      onRestore(() => {
        this.#isRestored = true;
        this.#strangeUntil = performance.now() + BEFORE_DUTY_MS;
        this.pollSoon();
      }),
    ];
    let waitedMs = 0;
    this.#timer = setInterval(() => {
      waitedMs += CHECK_EVERY_MS;
      if (waitedMs >= this.#everyMs && this.#isNeeded) {
        waitedMs = 0;
        this.#isPollDue = true;
      }
      this.#nameLate();
      if (this.#isPollDue || this.#named.size > 0) void this.#poll();
    }, CHECK_EVERY_MS);
  }

  async #begin(): Promise<void> {
    this.#lastId = await highestNumber(Notification);
    await this.#lookBack();
  }

  /** Forgets the numbers of a database that has become an older copy: they are given out again. */
  async #beginAnew(): Promise<void> {
    this.#missing.clear();
    this.#named.clear();
    this.#lastIds.splice(0);
    for (const list of [this.#expected, this.#unreported, this.#foundBefore, this.#unpublished])
      list.splice(0);
    await this.#begin();
    this.#isRestored = false;
  }

  /** Polls without waiting for the interval. */
  pollSoon(): void {
    if (!this.#timer || this.#soon || this.#stopped) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      this.#isPollDue = true;
      void this.#poll();
    }, SOON_MS);
  }

  /** What the process on duty tells the others; each range once. */
  takeNews(): { polledUpTo: number; unpublished: [number, number][] } {
    const unpublished = this.#unpublished.splice(0);
    return {
      polledUpTo: this.#lastIds.length === POLLS_BEHIND ? (this.#lastIds[0] as number) : 0,
      unpublished: unpublished.map(({ from, to }) => [from, to]),
    };
  }

  /** Resolves when no poll is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#stopListening) stop?.();
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#poll();
  }

  get #everyMs(): number {
    return this.#deps.reports?.isOnDuty ? ON_DUTY_EVERY_MS : EVERY_MS;
  }

  /** Whether this process has to look for itself. */
  get #isNeeded(): boolean {
    const { reports } = this.#deps;
    return !reports || reports.isOnDuty || !reports.completeSince(this.#polledAt);
  }

  #heed({ notifications, polledUpTo = 0, unpublished = [] }: Report): void {
    const lateAt = performance.now() + UNREPORTED_MS;
    for (const [id, memberNo] of notifications) {
      if (this.#deps.lacks(id, memberNo)) this.#expected.push({ id, memberNo, lateAt });
    }
    for (const [from, to] of unpublished) {
      for (let id = from; id <= to; id += 1) this.#named.add(id);
    }
    if (this.#named.size > 0) void this.#poll();
    // What comes before has been reported, and would be found missing by now.
    const isStrange = performance.now() < this.#strangeUntil;
    if (polledUpTo > this.#lastId && !this.#isNeeded && !isStrange) this.#lastId = polledUpTo;
  }

  /** Names what is late: of members here, and on duty of all. */
  #nameLate(): void {
    const now = performance.now();
    const { lacks, reports } = this.#deps;
    const isLate = ({ lateAt }: { lateAt: number }) => lateAt <= now;
    for (const { id, memberNo } of this.#expected.filter(isLate)) {
      if (lacks(id, memberNo)) this.#named.add(id);
    }
    this.#expected = this.#expected.filter((one) => !isLate(one));
    const found = this.#unreported.filter(isLate).flatMap(({ ids }) => ids);
    this.#unreported = this.#unreported.filter((one) => !isLate(one));
    // Also if this process has delivered it meanwhile: the others have not.
    const unpublished = found.filter((id) => !reports?.wasPublished(id));
    for (const id of unpublished) this.#named.add(id);
    this.#unpublished.push(...rangesOf(unpublished));
    this.#foundBefore = this.#foundBefore.filter(({ lateAt }) => now < lateAt + BEFORE_DUTY_MS);
  }

  async #readNamed(): Promise<void> {
    const named = this.#named;
    if (named.size === 0) return;
    this.#named = new Set();
    try {
      await this.#deliverAll([...named]);
    } catch (error) {
      for (const id of named) this.#named.add(id);
      throw error;
    }
  }

  async #pollOnce(): Promise<void> {
    const startedAt = performance.now();
    if (this.#isRestored) await this.#beginAnew();
    const isOnDuty = this.#deps.reports?.isOnDuty ?? false;
    if (isOnDuty && !this.#wasOnDuty) {
      this.#unreported.push(...this.#foundBefore.splice(0));
      await this.#lookBack();
    }
    this.#wasOnDuty = isOnDuty;
    const late = await readIdsWithin(this.#missing.ranges(startedAt));
    await this.#deliverMissed(late);
    for (const id of late) this.#missing.remove(id);
    let ids: number[];
    do {
      ids = await readIdsAfter(this.#lastId);
      await this.#deliverMissed(ids);
      this.#advance(ids);
      // After a full page there may be more: an announcement to everybody.
    } while (ids.length === PAGE && !this.#stopped);
    this.#polledAt = startedAt;
    this.#lastIds.push(this.#lastId);
    if (this.#lastIds.length > POLLS_BEHIND) this.#lastIds.shift();
  }

  /**
   * Delivers what it can. On duty, while all report, that waits until it is known what nobody has published: it is named then.
   */
  async #deliverMissed(ids: number[]): Promise<void> {
    const { reports } = this.#deps;
    if (reports) {
      const unreported = ids.filter((id) => !this.#deps.wasDelivered(id) && !reports.wasPublished(id));
      const found = reports.isOnDuty ? this.#unreported : this.#foundBefore;
      if (unreported.length > 0) found.push({ ids: unreported, lateAt: performance.now() + UNREPORTED_MS });
      if (reports.isOnDuty && reports.completeSince(this.#polledAt)) return;
    }
    await this.#deliverAll(ids);
  }

  async #deliverAll(ids: number[]): Promise<void> {
    const missed = ids.filter((id) => !this.#deps.wasDelivered(id));
    for (let from = 0; from < missed.length; from += BATCH) {
      await this.#deps.deliver(await readMissed(missed.slice(from, from + BATCH)));
    }
  }

  /** Remembers which of the last ids are missing: a writer may be stalling already. */
  async #lookBack(): Promise<void> {
    const upTo = this.#lastId;
    const after = Math.max(0, upTo - PAGE);
    const ids = await readIds({ _id: { $gt: after, $lte: upTo } }, PAGE);
    this.#lastId = after;
    this.#advance(ids);
    this.#missing.add({ from: this.#lastId + 1, to: upTo }, performance.now());
    this.#lastId = upTo;
  }

  /** Remembers which ids are missing among and before these. */
  #advance(ids: number[]): void {
    const now = performance.now();
    for (const id of ids) {
      this.#missing.add({ from: this.#lastId + 1, to: id - 1 }, now);
      this.#lastId = id;
    }
  }
}
