import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../kernel/errors.js';

/** Budgets: `points` requests in any `duration` seconds, per key. A burst may use the whole budget. */
const budgets = {
  /** REST reads of one member or, without a token, one address. */
  read: { points: 2_000, duration: 10 },
  /** REST writes of one member. */
  write: { points: 500, duration: 10 },
  /** All requests of one address, before anything else is looked at. */
  address: { points: 5_000, duration: 10 },
  /** Messages of one member, by socket or push. */
  message: { points: 100, duration: 5 },
  /** Other socket events of one member. */
  socketEvent: { points: 300, duration: 10 },
  /** New connections of one address. */
  connect: { points: 1_000, duration: 10 },
} as const;

export type Budget = keyof typeof budgets;

export interface RateLimits {
  /** Takes one from a budget. @throws AppError RATE_LIMITED with the time to wait */
  take(budget: Budget, key: string | number): Promise<void>;
}

/** @param on false lifts every limit: load tests, and closed networks */
export function createRateLimits(on: boolean): RateLimits {
  if (!on) return { take: async () => {} };
  const limiters = Object.fromEntries(
    Object.entries(budgets).map(([name, budget]) => [
      name,
      new RateLimiterMemory({ ...budget, keyPrefix: name }),
    ]),
  ) as Record<Budget, RateLimiterMemory>;
  return {
    async take(budget, key) {
      try {
        await limiters[budget].consume(key);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const { points, duration } = budgets[budget];
        throw new AppError('RATE_LIMITED', `more than ${points} requests in ${duration} s`, {
          retryAfterMs: Math.max(1, refused.msBeforeNext),
        });
      }
    },
  };
}
