import type { Clock } from '../kernel/clock.js';
import { shortened } from '../kernel/shortened.js';
import { Batcher } from '../platform/async/batcher.js';
import { createCache } from '../platform/async/cache.js';
import { insertEach, insertInOrder } from '../platform/mongo/inserts.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import { lastNumbersOf, Notification, type NotificationRecord } from './notification.model.js';

/** A notification to be stored. */
export type NewNotification = Omit<NotificationRecord, '_id' | 'n' | 'publishedAt' | 'checked' | 'deleted'>;

/** The stored record; undefined if its cause has notified the member before; why it is unknown; the retry. */
type Outcome = NotificationRecord | undefined | Error | Promise<NotificationRecord | undefined>;

interface Pending {
  notification: NewNotification;
  outcome?: Outcome;
}

/** What a batch holds for one member, in order, with the records it becomes. */
interface Run {
  memberNo: number;
  pending: Pending[];
  records: NotificationRecord[];
  /** How many of the records are stored: always the first ones. */
  stored: number;
  /** Why it is unknown whether the others are. */
  error?: Error;
}

/** Most notifications stored at a time. */
const MAX_GROUP = 1_000;

/** Members whose last number is remembered. */
const MAX_MEMBERS = 100_000;

/** Longest text shown, in code points: a notification leads to its subject, it does not repeat it. */
const MAX_CONTENT = 200;

/** Stores runs of one record each by one insert, in which a refused record does not delay the others. */
async function storeSingles(runs: Run[]): Promise<void> {
  try {
    const records = runs.flatMap((run) => run.records);
    for (const [i, outcome] of (await insertEach(Notification, records)).entries()) {
      const run = runs[i] as Run;
      if (outcome instanceof Error) run.error = outcome;
      else run.stored = outcome ? 1 : 0;
    }
  } catch (error) {
    for (const run of runs) run.error = error as Error;
  }
}

/**
 * Stores runs of several records by ordered inserts, which store nothing after a refused record: a member's
 * numbers get no gap. After a refused record the next insert continues with the following run.
 */
async function storeInOrder(runs: Run[]): Promise<void> {
  let left = runs;
  try {
    while (left.length > 0) {
      const records = left.flatMap((run) => run.records);
      let stored = await insertInOrder(Notification, records);
      const refused = left.findIndex((run) => {
        run.stored = Math.min(stored, run.records.length);
        stored -= run.stored;
        return run.stored < run.records.length;
      });
      left = refused < 0 ? [] : left.slice(refused + 1);
    }
  } catch (error) {
    for (const run of left) run.error = error as Error;
  }
}

/**
 * Stores notifications, those requested at the same moment together.
 *
 * Each member's `n` rises without gaps: new ones are numbered after the member's last one, the unique index
 * (memberNo, n) refuses a number that another process has taken, and nothing is stored after a refused one.
 * Refused ones are stored first in the next batch: those stored with them do not wait for it.
 */
export class Notifier {
  readonly #clock: Clock;
  readonly #deliver: (records: NotificationRecord[]) => Promise<void>;
  /** Each member's last number. */
  readonly #lastNumbers = createCache<number, number>(MAX_MEMBERS);
  readonly #batcher = new Batcher<NewNotification, NotificationRecord | undefined>(
    (notifications) => this.#storeBatch(notifications),
    { size: MAX_GROUP, concurrency: 1 },
  );

  /** @param deliver called with new records once they are stored, per member in order of `n` */
  constructor(clock: Clock, deliver: (records: NotificationRecord[]) => Promise<void>) {
    this.#clock = clock;
    this.#deliver = deliver;
  }

  /** @returns the stored record, or undefined if this cause has notified the member before */
  notify(notification: NewNotification): Promise<NotificationRecord | undefined> {
    return this.#batcher.add(notification);
  }

  /** Notifications that wait to be stored, those being stored left out. */
  get waiting(): number {
    return this.#batcher.waiting;
  }

  /** Resolves when nothing waits to be stored. */
  idle(): Promise<void> {
    return this.#batcher.idle();
  }

  async #storeBatch(notifications: NewNotification[]): Promise<Outcome[]> {
    const all = notifications.map((notification): Pending => ({ notification }));
    const refused = await this.#store(all);
    const retried = this.#batcher.addFirst(refused.map(({ notification }) => notification));
    for (const [i, one] of refused.entries()) one.outcome = retried[i];
    return all.map(({ outcome }) => outcome);
  }

  /** @returns those whose number another process has taken: they are stored under the next one */
  async #store(pending: Pending[]): Promise<Pending[]> {
    let runs: Run[];
    try {
      runs = await this.#number(pending);
    } catch (error) {
      for (const one of pending) one.outcome = error as Error;
      return [];
    }
    await Promise.all([
      storeSingles(runs.filter(({ records }) => records.length === 1)),
      storeInOrder(runs.filter(({ records }) => records.length > 1)),
    ]);
    await this.#deliver(runs.flatMap(({ records, stored }) => records.slice(0, stored)));
    return (await Promise.all(runs.map((run) => this.#settle(run)))).flat();
  }

  async #number(pending: Pending[]): Promise<Run[]> {
    const byMember = new Map<number, Pending[]>();
    for (const one of pending) {
      const { memberNo } = one.notification;
      const own = byMember.get(memberNo);
      if (own) own.push(one);
      else byMember.set(memberNo, [one]);
    }
    const known = new Map(
      [...byMember.keys()].map((memberNo) => [memberNo, this.#lastNumbers.get(memberNo)]),
    );
    const [firstId, read] = await Promise.all([
      nextNumbers('notification', pending.length),
      lastNumbersOf([...byMember.keys()].filter((memberNo) => known.get(memberNo) === undefined)),
    ]);
    const publishedAt = new Date(this.#clock.now());
    let _id = firstId;
    return [...byMember].map(([memberNo, own]) => {
      let n = known.get(memberNo) ?? read.get(memberNo) ?? 0;
      const records = own.map(
        ({ notification }): NotificationRecord => ({
          // First: the embedded database then stores the bytes as they are.
          _id: _id++,
          ...notification,
          content: shortened(notification.content, MAX_CONTENT),
          n: ++n,
          publishedAt,
          checked: false,
          deleted: false,
        }),
      );
      return { memberNo, pending: own, records, stored: 0 };
    });
  }

  /** Sets the outcomes of a run. @returns those that are to be stored under another number */
  async #settle({ memberNo, pending, records, stored, error }: Run): Promise<Pending[]> {
    for (const [i, record] of records.slice(0, stored).entries()) (pending[i] as Pending).outcome = record;
    if (stored === records.length) {
      this.#lastNumbers.set(memberNo, records.at(-1)?.n ?? 0);
      return [];
    }
    this.#lastNumbers.delete(memberNo);
    const rest = pending.slice(stored);
    try {
      if (error) throw error;
      const causes = rest.map(({ notification }) => notification.cause);
      const existing = await Notification.find({ memberNo, cause: { $in: causes } }, { cause: 1 }).lean();
      const known = new Set(existing.map(({ cause }) => cause));
      return rest.filter(({ notification }) => !known.has(notification.cause));
    } catch (failure) {
      for (const one of rest) one.outcome = failure as Error;
      return [];
    }
  }
}
