import { AppError } from '../../kernel/errors.js';

/** What a member stores within a quota, named as in its error. */
export type Stored = 'rooms' | 'messages' | 'articles' | 'comments';

/** Most records of each kind that a member may store in `WINDOW_MS`. */
export type QuotaSizes = Record<Stored, number>;

/** A window, ms. It begins with a member's first record of a kind. */
export const WINDOW_MS = 24 * 3_600_000;

/**
 * Limits how much a member stores in a day. Unlike a rate limit, each record is counted by itself and can be given
 * back: over so long a time nothing may be lost, neither with a process nor by a write that fails. While processes
 * are disconnected each counts alone, and nothing waits.
 */
export interface Quotas {
  /**
   * Counts one record. A refused one does not count.
   * @returns a function that gives it back, for a record that was not stored; after the end of its window it changes
   *   nothing. To be called once at most
   * @throws AppError QUOTA_EXCEEDED with the waiting time
   */
  take(kind: Stored, memberNo: number): Promise<() => void>;
}

/** @param waitMs until the window ends */
export function quotaExceeded(sizes: QuotaSizes, kind: Stored, waitMs: number): AppError {
  return new AppError('QUOTA_EXCEEDED', `more than ${sizes[kind]} ${kind} in 24 h`, {
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
  });
}
