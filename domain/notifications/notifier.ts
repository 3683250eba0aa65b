import { LRUCache } from 'lru-cache';
import type { Clock } from '../kernel/clock.js';
import { duplicateKey } from '../platform/mongo.js';
import { nextNumbers } from '../platform/sequence.model.js';
import { Notification, type NotificationRecord, type NotificationType } from './notification.model.js';

/** A notification to be written. */
export interface Notice {
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
  notice: Notice;
  resolve(record: NotificationRecord | undefined): void;
  reject(error: unknown): void;
}

/** Most notifications in one insert. */
const MAX_GROUP = 1_000;

/** Longest text shown, in UTF-16 code units: a notification is a hint, not the thing itself. */
const MAX_CONTENT = 200;

function excerpt(text: string): string {
  if (text.length <= MAX_CONTENT) return text;
  // Cut between characters, never inside a surrogate pair.
  return `${text.slice(0, MAX_CONTENT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/**
 * Writes notifications, those that wait at the same moment in one insert.
 *
 * Each member's `n` rises without gaps: a group holds at most one notice a member, numbered behind the
 * member's last one, and the unique index (memberNo, n) refuses a number that another process took.
 *
 * @param deliver called for each new record, per member in the order of `n`, once it is stored
 */
export function createNotifier(clock: Clock, deliver: (record: NotificationRecord) => Promise<void>) {
  const heads = new LRUCache<number, number>({ max: 100_000 });
  let waiting: Waiting[] = [];
  let running: Promise<void> | undefined;

  /** The next group: one notice a member, the rest stays in order. */
  function takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const rest: Waiting[] = [];
    const taken = new Set<number>();
    for (const item of waiting) {
      const { memberNo } = item.notice;
      if (group.length < MAX_GROUP && !taken.has(memberNo)) group.push(item);
      else rest.push(item);
      taken.add(memberNo);
    }
    waiting = rest;
    return group;
  }

  async function headOf(memberNo: number): Promise<number> {
    const known = heads.get(memberNo);
    if (known !== undefined) return known;
    const last = await Notification.findOne({ memberNo }, { n: 1 }).sort({ n: -1 }).lean();
    const head = last?.n ?? 0;
    heads.set(memberNo, head);
    return head;
  }

  async function numbered(group: Waiting[]): Promise<NotificationRecord[]> {
    const [firstId, numbers] = await Promise.all([
      nextNumbers('notification', group.length),
      Promise.all(group.map(({ notice }) => headOf(notice.memberNo))),
    ]);
    const publishedAt = new Date(clock.now());
    return group.map(({ notice }, i) => ({
      _id: firstId + i,
      memberNo: notice.memberNo,
      n: (numbers[i] ?? 0) + 1,
      type: notice.type,
      content: excerpt(notice.content),
      url: notice.url,
      originNo: notice.originNo,
      publishedAt,
      checked: false,
      deleted: false,
      cause: notice.cause,
      ...(notice.chatNo === undefined ? {} : { chatNo: notice.chatNo }),
    }));
  }

  /** @returns the positions of the group that a unique index refused */
  async function insert(records: NotificationRecord[]): Promise<Set<number>> {
    try {
      await Notification.collection.insertMany(records as never[], { ordered: false });
      return new Set();
    } catch (error) {
      const { writeErrors } = error as { writeErrors?: { index: number; code: number }[] };
      const list = Array.isArray(writeErrors) ? writeErrors : [];
      if (list.length > 0 && list.every(({ code }) => code === 11_000)) {
        return new Set(list.map(({ index }) => index));
      }
      if (duplicateKey(error) && records.length === 1) return new Set([0]);
      throw error;
    }
  }

  /** A refused notice was written before (same cause), or its number is another process's: once more. */
  async function settleRefused(item: Waiting): Promise<void> {
    const { memberNo, cause } = item.notice;
    heads.delete(memberNo);
    const existing = await Notification.findOne({ memberNo, cause }, { _id: 1 }).lean();
    if (existing) item.resolve(undefined);
    else waiting.unshift(item);
  }

  async function writeGroup(group: Waiting[]): Promise<void> {
    try {
      const records = await numbered(group);
      const refused = await insert(records);
      for (const [i, item] of group.entries()) {
        const record = records[i] as NotificationRecord;
        if (refused.has(i)) {
          await settleRefused(item);
          continue;
        }
        heads.set(record.memberNo, record.n);
        await deliver(record);
        item.resolve(record);
      }
    } catch (error) {
      for (const { notice, reject } of group) {
        heads.delete(notice.memberNo);
        reject(error);
      }
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) await writeGroup(takeGroup());
    running = undefined;
  }

  return {
    /**
     * @returns the stored record, or undefined when this cause has notified the member before
     */
    notify(notice: Notice): Promise<NotificationRecord | undefined> {
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
