import type { Logger } from '../platform/observe/logger.js';

/**
 * Publishes an event whose record is stored and marked. A failure must not fail the caller's request: the
 * record keeps its mark, and the next sweep publishes the event again.
 *
 * @returns whether it succeeded, so that the mark may be cleared
 */
export async function tryPublish(logger: Logger, publish: () => Promise<void>): Promise<boolean> {
  try {
    await publish();
    return true;
  } catch (error) {
    logger.warn({ err: error }, 'an event was not published; the next sweep retries');
    return false;
  }
}
