import type { Logger } from '../platform/logger.js';
import { aggregateRecords } from '../platform/mongo.js';
import { Notification, type NotificationRecord } from './notification.model.js';

/** How often, in ms, notifications written by other processes are looked for. */
const EVERY_MS = 5_000;

/**
 * How far back, in numbers, each look reaches: numbers are taken before the insert, so a lower one
 * may appear after a higher one was seen.
 */
const OVERLAP = 2_000;

/** Most records read at a time. */
const PAGE = 5_000;

/** Most records read whole and delivered at a time: others are served in between. */
const PART = 1_000;

/** What notifications have in common that tell several members the same, as those of an announcement do. */
export type SharedPart = Pick<
  NotificationRecord,
  'type' | 'content' | 'url' | 'originNo' | 'publishedAt' | 'checked' | 'deleted'
>;

/** A notification that was written past this process. */
export interface Found extends Pick<NotificationRecord, '_id' | 'memberNo' | 'n'> {
  /** The same object for all that were read together and say the same. */
  shared: SharedPart;
}

/** Numbers above one, lowest first, as one record: most looks find nothing to read but these. */
async function numbersAfter(after: number): Promise<number[]> {
  const [all] = await aggregateRecords<{ ids: number[] }>(Notification, [
    { $match: { _id: { $gt: after } } },
    { $sort: { _id: 1 } },
    { $limit: PAGE },
    { $group: { _id: null, ids: { $push: '$_id' } } },
  ]);
  return (all?.ids ?? []).sort((a, b) => a - b);
}

/**
 * The notifications of these numbers, lowest first. What they have in common comes once: an announcement
 * has a record for every member, and reading each of them whole was most of what delivering it cost.
 */
async function readFound(ids: number[]): Promise<Found[]> {
  const groups = await aggregateRecords<{
    _id: SharedPart;
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
 * Finds notifications that were written past this process (by `npm run announce`, say), so that they
 * reach open streams and sockets within seconds without anybody telling us.
 *
 * @param wasDelivered whether this process has delivered a record already
 * @param deliver called with those that it has not, in order of their numbers
 */
export function createTail(
  wasDelivered: (id: number) => boolean,
  deliver: (found: Found[]) => Promise<void>,
  logger: Logger,
) {
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  let running = Promise.resolve();
  let stopped = false;

  async function look(): Promise<void> {
    let numbers: number[];
    do {
      numbers = await numbersAfter(since - OVERLAP);
      const missed = numbers.filter((id) => !wasDelivered(id));
      for (let from = 0; from < missed.length; from += PART) {
        await deliver(await readFound(missed.slice(from, from + PART)));
      }
      since = Math.max(since, numbers.at(-1) ?? 0);
      // A full page has more behind it: an announcement to everybody.
    } while (numbers.length === PAGE && !stopped);
  }

  return {
    /** From now on: what is stored already is history, which streams read by themselves. */
    async start(): Promise<number[]> {
      const last = await Notification.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
      since = last?._id ?? 0;
      const known = await numbersAfter(since - OVERLAP);
      timer = setInterval(() => {
        running = running
          .then(look)
          .catch((error) =>
            logger.warn({ err: error }, 'notifications of other processes were not looked for'),
          );
      }, EVERY_MS);
      timer.unref();
      return known;
    },
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
