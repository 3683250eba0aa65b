import { z } from 'zod';
import { redisChannels } from '../../kernel/redis-keys.js';
import { createCache } from '../async/cache.js';
import type { RedisConnection } from './connection.js';

/** How often a process reports, ms. */
const REPORT_EVERY_MS = 1_000;

/** Time without a report after which a process counts as silent, ms. */
const SILENT_AFTER_MS = 3_000;

/** Longest time, ms, for which a roll is repeated that the process on duty cannot read again. */
const ROLL_FOR_MS = 5_000;

/** Most rooms, and most notifications, in one message; what is left follows in the next one at once. */
const MAX_ENTRIES = 2_000;

/** How long a process that has said goodbye may still be on a roll, ms. */
const GONE_FOR_MS = 60_000;

/**
 * Age, ms, beyond which a report is not believed: whoever reaches Redis may have recorded it. More than what SILENT_AFTER_MS
 * allows and the errors of both processes' estimates of the time, which are half a slow answer of the database.
 */
const RECENT_MS = 10_000;

/** Notifications of other processes that are remembered as published: more than come between two polls. */
const MAX_PUBLISHED = 50_000;

const number = z.int().nonnegative();
const position = z.object({ memberNo: number, seq: number, others: number });

/** What a process has written since its last report. */
const writesSchema = z.object({
  /** Numbers of rooms that changed. */
  rooms: z.array(z.object({ chatNo: number, seq: number, reads: z.array(position) })),
  /** Rooms of which the process does not know the numbers: a write may have been applied late. */
  unsure: z.array(number),
  /** Notifications that were published: number and member. */
  notifications: z.array(z.tuple([number, number])),
});
export type Writes = z.infer<typeof writesSchema>;

const reportSchema = writesSchema.extend({
  /** Name of the process. */
  from: z.string(),
  /** 1, 2, 3 … for each process. */
  number,
  /** When it was published, by the database's clock (epoch ms). */
  at: z.number(),
  /** The last one: the process has ended, and everything that it wrote is published. */
  isLast: z.boolean(),
  /** Of the process on duty: the processes that run, by the database. */
  roll: z.array(z.string()).optional(),
  /**
   * Of the process on duty: it has read all notifications up to this number some time ago. Those of them that it did not find
   * were not stored yet; it goes on looking for them, and names those in `unpublished` that are stored and not published.
   */
  polledUpTo: number.optional(),
  /** Of the process on duty: notifications that were stored and not published, first and last of each range. */
  unpublished: z.array(z.tuple([number, number])).optional(),
});
export type Report = z.infer<typeof reportSchema>;

/** What the process on duty adds to its reports. */
export type News = Pick<Report, 'polledUpTo' | 'unpublished'>;

export interface ReportsDeps {
  redis: RedisConnection;
  /** Name under which this process beats (cluster/heartbeat.model.ts). */
  name: string;
  /** The time by the database's clock (epoch ms); undefined as long as it is not known: nobody is heard until then. */
  databaseTime(): number | undefined;
}

/** What this process reports. */
export interface ReportSources {
  /** What it wrote since then (performance.now()). */
  writes(since: number): Writes;
  /** What it tells as the process on duty. */
  news(): News;
}

/**
 * Tells all processes every second what this one wrote, and hears the same of the others, so that they notice lost
 * pushes without reading the database. Reports are numbered, and the process on duty (cluster/duty.ts) tells who is to be
 * heard: while one process is silent, or a number is missing, nobody relies on reports (`completeSince`). An old report
 * has no effect, as a process that has just started does not know the numbers.
 *
 * Only with a signing key: otherwise anybody could report that nothing is missing.
 * (docs/decisions/delivery.md)
 */
export class Reports {
  readonly #deps: ReportsDeps;
  /** The other processes: number of the last report, and when it came (performance.now()). */
  readonly #heard = new Map<string, { number: number; at: number }>();
  readonly #gone = createCache<string, true>(MAX_PUBLISHED, GONE_FOR_MS);
  readonly #published = createCache<number, true>(MAX_PUBLISHED);
  readonly #listeners = new Set<(report: Report) => void>();
  /** Who runs, by the process on duty, and when that was heard. */
  #roll: { names: string[]; at: number } = { names: [], at: Number.NEGATIVE_INFINITY };
  /** Whether the roll is this process's. */
  #isOnDuty = false;
  #sources: ReportSources | undefined;
  #number = 0;
  #reportedAt = 0;
  /** When something may last have been lost (performance.now()). */
  #incompleteAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void)[] = [];

  constructor(deps: ReportsDeps) {
    this.#deps = deps;
  }

  /** Reports from now on, and hears the others. */
  start(sources: ReportSources): void {
    const { redis } = this.#deps;
    const lost = () => this.#noteLoss();
    this.#sources = sources;
    this.#stopListening = [
      redis.listen(
        'messageBuffer',
        (channel) => channel === redisChannels.reports,
        // If this throws, the message is dropped: its sender, if it is a process of the service, counts as silent.
        (_channel, text) => this.#hear(reportSchema.parse(JSON.parse(text))),
      ),
      redis.on('down', lost),
      redis.on('up', lost),
    ];
    void redis.subscriber().subscribe(redisChannels.reports);
    this.#timer = setInterval(() => this.#beat(), REPORT_EVERY_MS);
    this.#beat();
  }

  /** Whether this process was told, since then (performance.now()), everything that any process published. */
  completeSince(since: number): boolean {
    this.#check();
    return this.#incompleteAt < since;
  }

  /** Whether a process calls the roll, this one or another. */
  get hasRoll(): boolean {
    return !this.#isRollOld;
  }

  get isOnDuty(): boolean {
    return this.#isOnDuty;
  }

  /** Whether another process has published a notification. */
  wasPublished(notificationId: number): boolean {
    return this.#published.has(notificationId);
  }

  /** This process is on duty, and these run. */
  callRoll(names: string[]): void {
    this.#isOnDuty = true;
    this.#roll = { names, at: performance.now() };
  }

  /** This process is not on duty any more. */
  endDuty(): void {
    if (!this.#isOnDuty) return;
    this.#isOnDuty = false;
    this.#roll = { names: [], at: Number.NEGATIVE_INFINITY };
    this.#noteLoss();
  }

  /**
   * Calls back with the reports of other processes, and with the rooms of which this one does not know the numbers.
   * @returns a function that ends it
   */
  onReport(listener: (report: Report) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Reports for the last time. To be called once this process does not beat any more.
   * @param isPublished whether everything that it wrote is published; otherwise the others take it for killed
   */
  close(isPublished = true): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#report(isPublished);
    for (const stop of this.#stopListening) stop();
    void this.#deps.redis.subscriber().unsubscribe(redisChannels.reports);
  }

  #beat(): void {
    this.#report(false);
    this.#check();
  }

  #report(isLast: boolean): void {
    const sources = this.#sources as ReportSources;
    const since = this.#reportedAt;
    this.#reportedAt = performance.now();
    const writes = sources.writes(since);
    const news = this.#isOnDuty && !this.#isRollOld ? { ...sources.news(), roll: this.#roll.names } : {};
    const { rooms, unsure, notifications } = writes;
    // What this process does not know itself, it has to look for as all others do. Its pushes have reached it.
    if (unsure.length > 0) {
      const { name: from, databaseTime } = this.#deps;
      const own = { unsure, rooms: [], notifications: [], from, number: this.#number, isLast };
      for (const listener of this.#listeners) listener({ ...own, at: databaseTime() ?? 0 });
    }
    const most = Math.max(1, rooms.length, unsure.length, notifications.length);
    for (let from = 0; from < most; from += MAX_ENTRIES) {
      const to = from + MAX_ENTRIES;
      this.#publish({
        rooms: rooms.slice(from, to),
        unsure: unsure.slice(from, to),
        notifications: notifications.slice(from, to),
        isLast: isLast && to >= most,
        ...(from === 0 ? news : {}),
      });
    }
  }

  #publish(report: Omit<Report, 'from' | 'number' | 'at'>): void {
    const { redis, name: from, databaseTime } = this.#deps;
    this.#number += 1;
    const whole: Report = { ...report, from, number: this.#number, at: databaseTime() ?? 0 };
    void redis.publish(redisChannels.reports, JSON.stringify(whole));
  }

  #hear(report: Report): void {
    const { from, isLast, roll, notifications } = report;
    const last = this.#heard.get(from)?.number ?? 0;
    // Repeated by somebody who reaches Redis.
    if (!this.#isRecent(report) || report.number <= last || this.#gone.has(from)) return;
    const at = performance.now();
    if (report.number > last + 1) this.#noteLoss();
    if (isLast) {
      this.#heard.delete(from);
      this.#gone.set(from, true);
    } else {
      this.#heard.set(from, { number: report.number, at });
    }
    if (roll && !this.#isOnDuty) this.#roll = { names: roll, at };
    for (const [id] of notifications) this.#published.set(id, true);
    for (const listener of this.#listeners) listener(report);
  }

  #isRecent(report: Report): boolean {
    const now = this.#deps.databaseTime();
    return now !== undefined && Math.abs(now - report.at) <= RECENT_MS;
  }

  get #isRollOld(): boolean {
    return performance.now() - this.#roll.at > (this.#isOnDuty ? ROLL_FOR_MS : SILENT_AFTER_MS);
  }

  /** Notes a loss if a process that runs, or has reported, is silent. */
  #check(): void {
    const now = performance.now();
    const isSilent = (at: number) => now - at > SILENT_AFTER_MS;
    const hasRoll = !this.#isRollOld;
    let isComplete = hasRoll;
    for (const [name, { at }] of this.#heard) {
      if (!isSilent(at)) continue;
      // Of one that does not run any more, nothing is missing after the look that follows.
      if (hasRoll && !this.#roll.names.includes(name)) this.#heard.delete(name);
      isComplete = false;
    }
    for (const name of this.#roll.names) {
      if (name !== this.#deps.name && !this.#heard.has(name) && !this.#gone.has(name)) isComplete = false;
    }
    if (!isComplete) this.#noteLoss();
  }

  #noteLoss(): void {
    this.#incompleteAt = performance.now();
  }
}
