import type { Logger } from '../platform/logger.js';

/**
 * Runs an announcement whose cause is stored. A failure must not fail the caller's request: the record keeps
 * its mark, and the next sweep repeats the announcement.
 *
 * @returns whether it succeeded, so that the mark may be cleared
 */
export async function tryAnnounce(logger: Logger, announce: () => Promise<void>): Promise<boolean> {
  try {
    await announce();
    return true;
  } catch (error) {
    logger.warn({ err: error }, 'an announcement failed; the next sweep tries again');
    return false;
  }
}
