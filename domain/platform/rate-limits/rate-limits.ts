import { RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../kernel/errors.js';
import { metrics } from '../observe/metrics.js';

/** `points` requests per `duration` seconds and key. A burst may use the whole budget. */
export interface BudgetSize {
  points: number;
  duration: number;
}

export const budgets = {
  /** REST reads of a member or, without a token, an address. Of IPv6 addresses a /64 counts as one. */
  read: { points: 2_000, duration: 10 },
  /** Lists of a member's rooms, messages or notifications, which are no reads: a single one may read 10,000 records, or 15 MB. */
  list: { points: 300, duration: 10 },
  /** Article searches of a member or, without a token, an address; each is a read, too. */
  search: { points: 20, duration: 10 },
  /** REST writes of a member or, without a token, an address. */
  write: { points: 500, duration: 10 },
  /** All requests of an address, checked first. */
  address: { points: 5_000, duration: 10 },
  /** Bytes of bodies of an address, as sent and, of compressed ones, again as decompressed; charged before they are parsed. */
  bytes: { points: 16_000_000, duration: 10 },
  /** Messages of a member, by socket or push. */
  message: { points: 100, duration: 5 },
  /** Other socket events of a member, unknown ones included. */
  socketEvent: { points: 300, duration: 10 },
} as const satisfies Record<string, BudgetSize>;

export type Budget = keyof typeof budgets;

/** Size of each budget; tests have smaller ones. */
export type Budgets = Record<Budget, BudgetSize>;

/**
 * Limits requests per key and time. A key gets its points over all processes and is then refused until its
 * window ends, which begins with its first request; keys and budgets are independent. While processes are
 * disconnected each counts alone, and nothing waits.
 */
export interface RateLimits {
  /**
   * Takes points of a budget, one by default.
   * @throws AppError RATE_LIMITED with the waiting time
   */
  take(budget: Budget, key: string | number, points?: number): Promise<void>;
}

/** How long a key waits at most, ms: what the library says goes by a clock that may have been set back. */
export const waitOf = ({ duration }: BudgetSize, msBeforeNext: number): number =>
  Math.min(duration * 1_000, Math.max(1, Math.ceil(msBeforeNext)));

/** Takes points of a key. @throws RateLimiterRes to refuse it */
type Take = (key: string, points: number) => Promise<unknown>;

/**
 * Limits of these sizes.
 * @param createLimiter creates the limiter of a budget
 */
export function limitsOf(
  sizes: Budgets,
  createLimiter: (budget: Budget, size: BudgetSize) => Take,
): RateLimits {
  const names = Object.keys(sizes) as Budget[];
  const limiters = new Map(names.map((budget) => [budget, createLimiter(budget, sizes[budget])]));
  return {
    async take(budget, key, taken = 1) {
      try {
        await (limiters.get(budget) as Take)(String(key), taken);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        metrics.limitHits.inc({ limit: budget });
        const { points, duration } = sizes[budget];
        const what = budget === 'bytes' ? 'bytes' : 'requests';
        throw new AppError('RATE_LIMITED', `more than ${points} ${what} in ${duration} s`, {
          retryAfterMs: waitOf(sizes[budget], refused.msBeforeNext),
        });
      }
    },
  };
}
