import type { Logger } from '../platform/logger.js';
import { aggregateRecords } from '../platform/mongo/records.js';
import { SerialQueue } from '../platform/serial-queue.js';
import { type IdRange, MissingIds } from './missing-ids.js';
import { Notification, type NotificationRecord } from './notification.model.js';

/** Interval between polls, ms. */
const EVERY_MS = 5_000;

/** Most ids read at a time. */
const PAGE = 5_000;

/** Most records read and delivered at a time: the event loop serves others in between. */
const BATCH = 1_000;

/** Most ranges of missing ids in one query. */
const RANGES_PER_QUERY = 100;

/** What the notifications of one announcement have in common. */
export type SharedFields = Pick<
  NotificationRecord,
  'type' | 'content' | 'url' | 'originNo' | 'publishedAt' | 'checked' | 'deleted'
>;

/** A notification that this process has not delivered. */
export interface MissedNotification extends Pick<NotificationRecord, '_id' | 'memberNo' | 'n'> {
  /** The same object for all notifications read together that agree in it. */
  shared: SharedFields;
}

/** The first ids of records that match, lowest first, in one document: most polls read nothing else. */
async function readIds(match: object): Promise<number[]> {
  const [all] = await aggregateRecords<{ ids: number[] }>(Notification, [
    { $match: match },
    { $sort: { _id: 1 } },
    { $limit: PAGE },
    { $group: { _id: null, ids: { $push: '$_id' } } },
  ]);
  return all?.ids ?? [];
}

const readIdsAfter = (after: number) => readIds({ _id: { $gt: after } });

async function readIdsWithin(ranges: IdRange[]): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < ranges.length; i += RANGES_PER_QUERY) {
    const some = ranges.slice(i, i + RANGES_PER_QUERY);
    found.push(...(await readIds({ $or: some.map(({ from, to }) => ({ _id: { $gte: from, $lte: to } })) })));
  }
  return found;
}

/**
 * The notifications of these ids, lowest first. Shared fields are read once: an announcement has a record for
 * every member, and reading each of them whole was most of the cost of delivering it.
 */
async function readMissed(ids: number[]): Promise<MissedNotification[]> {
  const groups = await aggregateRecords<{
    _id: SharedFields;
    ids: number[];
    members: number[];
    numbers: number[];
  }>(Notification, [
    { $match: { _id: { $in: ids } } },
    {
      $group: {
        _id: {
          type: '$type',
          content: '$content',
          url: '$url',
          originNo: '$originNo',
          publishedAt: '$publishedAt',
          checked: '$checked',
          deleted: '$deleted',
        },
        ids: { $push: '$_id' },
        members: { $push: '$memberNo' },
        numbers: { $push: '$n' },
      },
    },
  ]);
  return groups
    .flatMap(({ _id: shared, ids, members, numbers }) =>
      ids.map((id, i) => ({
        _id: id,
        memberNo: members[i] as number,
        n: numbers[i] as number,
        shared,
      })),
    )
    .sort((a, b) => a._id - b._id);
}

/**
 * Polls for notifications that were not pushed to this process, such as those of `npm run announce`, so that
 * they reach open streams and sockets within seconds.
 *
 * An id is taken before its record is inserted, and the writer may stall in between: ids that are missing
 * when a higher one is seen are searched for again (missing-ids.ts).
 */
export class MissedPoll {
  readonly #wasDelivered: (id: number) => boolean;
  readonly #deliver: (missed: MissedNotification[]) => Promise<void>;
  readonly #logger: Logger;
  readonly #missing = new MissingIds();
  readonly #queue = new SerialQueue();
  /** The highest id seen. */
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param wasDelivered whether this process has delivered a notification already
   * @param deliver called with those that it has not, in order of their ids
   */
  constructor(
    wasDelivered: (id: number) => boolean,
    deliver: (missed: MissedNotification[]) => Promise<void>,
    logger: Logger,
  ) {
    this.#wasDelivered = wasDelivered;
    this.#deliver = deliver;
    this.#logger = logger;
  }

  /** Notifications stored before are left to the streams, which read them when they open. */
  async start(): Promise<void> {
    const last = await Notification.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
    // A writer may be stalling already.
    this.#lastId = Math.max(0, (last?._id ?? 0) - PAGE);
    this.#advance(await readIdsAfter(this.#lastId));
    const fail = (error: unknown) =>
      this.#logger.warn({ err: error }, 'a poll for missed notifications failed');
    this.#timer = setInterval(() => this.#queue.add(() => this.#poll()).catch(fail), EVERY_MS);
  }

  /** Resolves when no poll is running any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#queue.add(async () => {});
  }

  async #poll(): Promise<void> {
    const late = await readIdsWithin(this.#missing.ranges(performance.now()));
    await this.#deliverMissed(late);
    for (const id of late) this.#missing.remove(id);
    let ids: number[];
    do {
      ids = await readIdsAfter(this.#lastId);
      await this.#deliverMissed(ids);
      this.#advance(ids);
      // After a full page there may be more: an announcement to everybody.
    } while (ids.length === PAGE && !this.#stopped);
  }

  async #deliverMissed(ids: number[]): Promise<void> {
    const missed = ids.filter((id) => !this.#wasDelivered(id));
    for (let from = 0; from < missed.length; from += BATCH) {
      await this.#deliver(await readMissed(missed.slice(from, from + BATCH)));
    }
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
