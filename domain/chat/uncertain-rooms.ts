import { createCache } from '../platform/async/cache.js';
import type { Logger } from '../platform/observe/logger.js';
import { metrics } from '../platform/observe/metrics.js';
import { toAppError } from '../platform/process/failures.js';

/** Delay before rooms are retried while the database is unavailable, ms. */
const RETRY_AFTER_MS = 1_000;

/** How long after a write of unknown outcome the database may still apply it once it answers again, ms. */
const LATE_MS = 60_000;

/** Most rooms that are remembered so long. */
const MAX_LATE = 10_000;

/**
 * Rooms where a failed write may have been stored nevertheless, for example because the database answered too
 * late. It was not published, so each room is read and published again as soon as the database answers.
 *
 * @param republish reads what the room holds after a number, and publishes it
 */
export function createUncertainRooms(
  republish: (chatNo: number, seq: number) => Promise<void>,
  logger: Logger,
) {
  /** Rooms still to be read, and the number after which. */
  const waiting = new Map<number, number>();
  /** Read, but what was written before may be applied later. */
  const late = createCache<number, true>(MAX_LATE, LATE_MS);
  /** Being read. */
  let reading: number | undefined;
  let closed = false;

  function enqueue(chatNo: number, seq: number): void {
    waiting.set(chatNo, Math.min(seq, waiting.get(chatNo) ?? seq));
  }

  async function run(): Promise<void> {
    if (reading !== undefined || closed) return;
    for (const [chatNo, seq] of waiting) {
      if (closed) break;
      waiting.delete(chatNo);
      reading = chatNo;
      try {
        await republish(chatNo, seq);
        metrics.driftMended.inc({ what: 'room' });
      } catch (error) {
        if (toAppError(error).status === 503) {
          logger.warn({ err: error, chatNo }, 'the outcome of a failed write is unknown; retrying');
          enqueue(chatNo, seq);
          setTimeout(() => void run(), RETRY_AFTER_MS).unref();
          break;
        }
        logger.error({ err: error, chatNo }, 'the outcome of a failed write could not be determined');
      }
      // From now on: what the network held back while it was down may arrive when it is up again.
      late.set(chatNo, true);
    }
    reading = undefined;
  }

  const unsure = (): number[] => [
    ...waiting.keys(),
    ...(reading === undefined ? [] : [reading]),
    ...late.keys(),
  ];

  return {
    /** @param seq number of the newest message known before the write */
    add(chatNo: number, seq: number): void {
      enqueue(chatNo, seq);
      void run();
    },
    /** Rooms in which a failed write may have been applied, or may be later: if there are none, all that is stored is published. */
    unsure,
    /** Reads no further room: what is unsettled stays so. */
    close(): void {
      closed = true;
    },
  };
}
