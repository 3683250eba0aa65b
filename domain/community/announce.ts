import type { Logger } from '../platform/logger.js';

/**
 * Announces what a stored record caused. A listener that fails must not fail the call whose write is
 * safe: the record keeps its mark, and the sweep announces again.
 *
 * @returns whether the announcement is done and the mark may go
 */
export async function announceOrLeave(logger: Logger, announce: () => Promise<void>): Promise<boolean> {
  try {
    await announce();
    return true;
  } catch (error) {
    logger.warn({ err: error }, 'an announcement failed; the next sweep tries again');
    return false;
  }
}
