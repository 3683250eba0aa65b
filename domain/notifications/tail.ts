import type { Logger } from '../platform/logger.js';
import { Notification, type NotificationRecord } from './notification.model.js';

/** How often, in ms, notifications written by other processes are looked for. */
const EVERY_MS = 5_000;

/**
 * How far back, in numbers, each look reaches: numbers are taken before the insert, so a lower one
 * may appear after a higher one was seen.
 */
const OVERLAP = 2_000;

/** Most records one look takes on. */
const PAGE = 5_000;

/**
 * Finds notifications that were written past this process (by `npm run announce`, say), so that they
 * reach open streams and sockets within seconds without anybody telling us.
 *
 * @param wasDelivered whether this process has delivered a record already
 * @param deliver called for each one that it has not, in order of their numbers
 */
export function createTail(
  wasDelivered: (id: number) => boolean,
  deliver: (record: NotificationRecord) => Promise<void>,
  logger: Logger,
) {
  let timer: NodeJS.Timeout | undefined;
  let since = 0;
  let running = Promise.resolve();

  async function look(): Promise<void> {
    // The numbers first, from the index alone: most looks find nothing else.
    const numbers = await Notification.find({ _id: { $gt: since - OVERLAP } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(PAGE)
      .lean();
    const missed = numbers.map(({ _id }) => _id).filter((id) => !wasDelivered(id));
    if (missed.length > 0) {
      const records = await Notification.find({ _id: { $in: missed } })
        .sort({ _id: 1 })
        .lean();
      for (const record of records) await deliver(record);
    }
    since = Math.max(since, numbers.at(-1)?._id ?? 0);
  }

  return {
    /** From now on: what is stored already is history, which streams read by themselves. */
    async start(): Promise<number[]> {
      const last = await Notification.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
      since = last?._id ?? 0;
      const known = await Notification.find({ _id: { $gt: since - OVERLAP } }, { _id: 1 }).lean();
      timer = setInterval(() => {
        running = running
          .then(look)
          .catch((error) =>
            logger.warn({ err: error }, 'notifications of other processes were not looked for'),
          );
      }, EVERY_MS);
      timer.unref();
      return known.map(({ _id }) => _id);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
