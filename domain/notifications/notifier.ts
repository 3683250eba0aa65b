import type { Clock } from '../kernel/clock.js';
import { createCache } from '../platform/cache.js';
import { insertInOrder, insertNew } from '../platform/mongo/inserts.js';
import { nextNumbers } from '../platform/sequence.model.js';
import { Notification, type NotificationRecord, type NotificationType } from './notification.model.js';

/** A notification to be written. */
export interface NewNotification {
  memberNo: number;
  type: NotificationType;
  content: string;
  url: string;
  /** The member it comes from; 0 for the service itself. */
  originNo: number;
  /** The same cause never notifies a member twice. */
  cause: string;
  chatNo?: number;
}

interface Waiting {
  notice: NewNotification;
  resolve(record: NotificationRecord | undefined): void;
  reject(error: unknown): void;
}

/** What waits for one member, in the order it came, with the records it becomes. */
interface Run {
  memberNo: number;
  items: Waiting[];
  records: NotificationRecord[];
  /** How many of the records are stored: always the first ones. */
  stored: number;
  /** Why the outcome of the others is unknown. */
  error?: unknown;
}

/** Most notifications written at a time. */
const MAX_GROUP = 1_000;

/** Longest text shown, in UTF-16 code units: a notification is a hint, not the thing itself. */
const MAX_CONTENT = 200;

function excerpt(text: string): string {
  if (text.length <= MAX_CONTENT) return text;
  // Cut between characters, never inside a surrogate pair.
  return `${text.slice(0, MAX_CONTENT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * Stores runs of several records each by ordered inserts, so that none is stored behind a refused one:
 * a member's numbers get no hole. A run that is refused in its middle does not hold up those behind it.
 */
async function storeRuns(runs: Run[]): Promise<void> {
  let left = runs;
  try {
    while (left.length > 0) {
      let stored = await insertInOrder(
        Notification,
        left.flatMap(({ records }) => records),
      );
      const refused = left.findIndex((run) => {
        run.stored = Math.min(stored, run.records.length);
        stored -= run.stored;
        return run.stored < run.records.length;
      });
      left = refused < 0 ? [] : left.slice(refused + 1);
    }
  } catch (error) {
    for (const run of left) run.error = error;
  }
}

/** Stores runs of one record each by one insert, in which a refused one does not hold up the others. */
async function storeSingles(runs: Run[]): Promise<void> {
  try {
    const refused = new Set(
      await insertNew(
        Notification,
        runs.flatMap(({ records }) => records),
      ),
    );
    for (const run of runs) run.stored = run.records.some((record) => refused.has(record)) ? 0 : 1;
  } catch (error) {
    for (const run of runs) run.error = error;
  }
}

/**
 * Writes notifications, those that wait at the same moment together.
 *
 * Each member's `n` rises without gaps: a member's notices are numbered behind the last one, the unique
 * index (memberNo, n) refuses a number that another process took, and none is stored behind a refused one.
 *
 * @param deliver called with new records once they are stored, per member in the order of `n`
 */
export function createNotifier(clock: Clock, deliver: (records: NotificationRecord[]) => Promise<void>) {
  const heads = createCache<number, number>(100_000);
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  /** The member's last number; undefined without any. */
  async function headOf(memberNo: number): Promise<number | undefined> {
    const known = heads.get(memberNo);
    if (known !== undefined) return known;
    const last = await Notification.findOne({ memberNo }, { n: 1 }).sort({ n: -1 }).lean();
    return last?.n;
  }

  async function numbered(group: Waiting[]): Promise<Run[]> {
    const byMember = new Map<number, Waiting[]>();
    for (const item of group) {
      const { memberNo } = item.notice;
      const items = byMember.get(memberNo);
      if (items) items.push(item);
      else byMember.set(memberNo, [item]);
    }
    const [firstId, numbers] = await Promise.all([
      nextNumbers('notification', group.length),
      Promise.all([...byMember.keys()].map(headOf)),
    ]);
    const publishedAt = new Date(clock.now());
    let id = firstId;
    return [...byMember].map(([memberNo, items], i) => {
      let n = numbers[i] ?? 0;
      const records = items.map(({ notice }) => recordOf(notice, id++, ++n, publishedAt));
      return { memberNo, items, records, stored: 0 };
    });
  }

  function recordOf(notice: NewNotification, _id: number, n: number, publishedAt: Date): NotificationRecord {
    const { memberNo, type, content, url, originNo, cause, chatNo } = notice;
    return {
      ...{ _id, memberNo, n, type, content: excerpt(content), url, originNo, publishedAt },
      ...{ checked: false, deleted: false, cause },
      ...(chatNo === undefined ? {} : { chatNo }),
    };
  }

  /** Refused notices were written before (same cause), or their numbers are another process's: once more. */
  async function settleRefused({ memberNo, items, stored }: Run): Promise<Waiting[]> {
    const refused = items.slice(stored);
    const causes = refused.map(({ notice }) => notice.cause);
    try {
      const existing = await Notification.find({ memberNo, cause: { $in: causes } }, { cause: 1 }).lean();
      const known = new Set(existing.map(({ cause }) => cause));
      for (const { notice, resolve } of refused) if (known.has(notice.cause)) resolve(undefined);
      return refused.filter(({ notice }) => !known.has(notice.cause));
    } catch (error) {
      for (const { reject } of refused) reject(error);
      return [];
    }
  }

  async function writeGroup(group: Waiting[]): Promise<void> {
    let runs: Run[];
    try {
      runs = await numbered(group);
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    await Promise.all([
      storeSingles(runs.filter(({ records }) => records.length === 1)),
      storeRuns(runs.filter(({ records }) => records.length > 1)),
    ]);
    await deliver(runs.flatMap(({ records, stored }) => records.slice(0, stored)));
    const again: Promise<Waiting[]>[] = [];
    for (const run of runs) {
      const { memberNo, items, records, stored, error } = run;
      if (stored === records.length) heads.set(memberNo, records[stored - 1]?.n ?? 0);
      else heads.delete(memberNo);
      for (const [i, { resolve }] of items.slice(0, stored).entries()) resolve(records[i]);
      if (error !== undefined) for (const { reject } of items.slice(stored)) reject(error);
      else if (stored < records.length) again.push(settleRefused(run));
    }
    waiting = [...(await Promise.all(again)).flat(), ...waiting];
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) await writeGroup(waiting.splice(0, MAX_GROUP));
    running = undefined;
  }

  return {
    /**
     * @returns the stored record, or undefined when this cause has notified the member before
     */
    notify(notice: NewNotification): Promise<NotificationRecord | undefined> {
      return new Promise((resolve, reject) => {
        waiting.push({ notice, resolve, reject });
        // All notices of one turn of the event loop go together.
        running ??= new Promise<void>((turn) => setImmediate(turn)).then(writeAll);
      });
    },
    /** Resolves when nothing is waiting any more. */
    async idle(): Promise<void> {
      await running;
    },
  };
}

export type Notifier = ReturnType<typeof createNotifier>;
