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
    const records = await Notification.find({ _id: { $gt: since - OVERLAP } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .lean();
    for (const record of records) if (!wasDelivered(record._id)) await deliver(record);
    since = Math.max(since, records.at(-1)?._id ?? 0);
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
