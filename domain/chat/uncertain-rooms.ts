import { toAppError } from '../platform/failures.js';
import type { Logger } from '../platform/logger.js';

/** Time, in ms, until rooms are looked at again that could not be read. */
const AGAIN_AFTER_MS = 1_000;

/**
 * Rooms where a write failed that may be stored all the same, such as one that the database answered too late.
 * Nobody has been told of it, so each is looked at until the database answers.
 */
export interface UncertainRooms {
  /** @param seq number of the newest message that was known before the write */
  add(chatNo: number, seq: number): void;
  close(): void;
}

/** @param tell reads what the room holds after a number, and tells it */
export function createUncertainRooms(
  tell: (chatNo: number, seq: number) => Promise<void>,
  logger: Logger,
): UncertainRooms {
  const waiting = new Map<number, number>();
  let running = false;
  let closed = false;

  async function look(): Promise<void> {
    if (running || closed) return;
    running = true;
    for (const [chatNo, seq] of waiting) {
      waiting.delete(chatNo);
      try {
        await tell(chatNo, seq);
      } catch (error) {
        if (toAppError(error).status !== 503) {
          logger.error({ err: error, chatNo }, 'a write of unknown outcome was not found out about');
          continue;
        }
        logger.warn({ err: error, chatNo }, 'a write of unknown outcome is looked for again');
        add(chatNo, seq);
        setTimeout(() => void look(), AGAIN_AFTER_MS).unref();
        break;
      }
    }
    running = false;
  }

  function add(chatNo: number, seq: number): void {
    waiting.set(chatNo, Math.min(seq, waiting.get(chatNo) ?? seq));
  }

  return {
    add(chatNo, seq) {
      add(chatNo, seq);
      void look();
    },
    close() {
      closed = true;
      waiting.clear();
    },
  };
}
