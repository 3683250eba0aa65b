import type { Logger } from '../platform/logger.js';
import { aggregateRecords } from '../platform/mongo/records.js';
import { createHoles, type Span } from './holes.js';
import { Notification, type NotificationRecord } from './notification.model.js';

/** How often, in ms, notifications written by other processes are looked for. */
const EVERY_MS = 5_000;

/** Most numbers read at a time. */
const PAGE = 5_000;

/** Most records read whole and delivered at a time: others are served in between. */
const PART = 1_000;

/** Most spans of numbers asked for at a time. */
const SPANS_AT_ONCE = 100;

/** What notifications have in common that tell several members the same, as those of an announcement do. */
export type SharedPart = Pick<
  NotificationRecord,
  'type' | 'content' | 'url' | 'originNo' | 'publishedAt' | 'checked' | 'deleted'
>;

/** A notification that was written past this process. */
export interface MissedNotification extends Pick<NotificationRecord, '_id' | 'memberNo' | 'n'> {
  /** The same object for all that were read together and say the same. */
  shared: SharedPart;
}

/** The first numbers of those that match, lowest first, as one record: most looks find nothing to read but these. */
async function numbersOf(match: object): Promise<number[]> {
  const [all] = await aggregateRecords<{ ids: number[] }>(Notification, [
    { $match: match },
    { $sort: { _id: 1 } },
    { $limit: PAGE },
    { $group: { _id: null, ids: { $push: '$_id' } } },
  ]);
  return all?.ids ?? [];
}

const numbersAfter = (after: number) => numbersOf({ _id: { $gt: after } });

/** Numbers within any of these spans. */
async function numbersWithin(spans: Span[]): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < spans.length; i += SPANS_AT_ONCE) {
    const some = spans.slice(i, i + SPANS_AT_ONCE);
    found.push(
      ...(await numbersOf({ $or: some.map(({ from, to }) => ({ _id: { $gte: from, $lte: to } })) })),
    );
  }
  return found;
}

/**
 * The notifications of these numbers, lowest first. What they have in common comes once: an announcement
 * has a record for every member, and reading each of them whole was most of what delivering it cost.
 */
async function readFound(ids: number[]): Promise<MissedNotification[]> {
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
 * A number is taken before its record is inserted, and the writer may stall in between: numbers that are
 * missing when a higher one is seen are looked for again (holes.ts).
 *
 * @param wasDelivered whether this process has delivered a record already
 * @param deliver called with those that it has not, in order of their numbers
 */
export function createMissedPoll(
  wasDelivered: (id: number) => boolean,
  deliver: (found: MissedNotification[]) => Promise<void>,
  logger: Logger,
) {
  const holes = createHoles();
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  let running = Promise.resolve();
  let stopped = false;

  async function deliverMissed(numbers: number[]): Promise<void> {
    const missed = numbers.filter((id) => !wasDelivered(id));
    for (let from = 0; from < missed.length; from += PART) {
      await deliver(await readFound(missed.slice(from, from + PART)));
    }
  }

  /** Goes on behind these numbers, and keeps in mind which ones are missing among them. */
  function goOn(numbers: number[]): void {
    const now = performance.now();
    for (const id of numbers) {
      holes.add({ from: since + 1, to: id - 1 }, now);
      since = id;
    }
  }

  async function look(): Promise<void> {
    const late = await numbersWithin(holes.spans(performance.now()));
    await deliverMissed(late);
    for (const id of late) holes.fill(id);
    let numbers: number[];
    do {
      numbers = await numbersAfter(since);
      await deliverMissed(numbers);
      goOn(numbers);
      // A full page has more behind it: an announcement to everybody.
    } while (numbers.length === PAGE && !stopped);
  }

  return {
    /** From now on: what is stored already is history, which streams read by themselves. */
    async start(): Promise<void> {
      const last = await Notification.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
      // Its writer may be stalling already when we begin.
      since = Math.max(0, (last?._id ?? 0) - PAGE);
      goOn(await numbersAfter(since));
      timer = setInterval(() => {
        running = running
          .then(look)
          .catch((error) =>
            logger.warn({ err: error }, 'notifications of other processes were not looked for'),
          );
      }, EVERY_MS);
    },
    async stop(): Promise<void> {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
