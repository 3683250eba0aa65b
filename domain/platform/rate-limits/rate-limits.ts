import { RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../../kernel/errors.js';

/** `points` requests in any `duration` seconds, per key. A burst may use the whole budget. */
export interface BudgetSize {
  points: number;
  duration: number;
}

export const budgets = {
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
} as const satisfies Record<string, BudgetSize>;

export type Budget = keyof typeof budgets;

/** How large each budget is; tests have smaller ones. */
export type Budgets = Record<Budget, BudgetSize>;

/**
 * What one key may ask for in a time.
 *
 * What an implementer owes: a key gets its points, whichever process it asks, and is refused from then
 * on until its window ends, which begins with its first request; keys and budgets do not touch each
 * other. Where processes cannot hear of each other each counts by itself, and nothing waits.
 */
export interface RateLimits {
  /** Takes one from a budget. @throws AppError RATE_LIMITED with the time to wait */
  take(budget: Budget, key: string | number): Promise<void>;
}

/**
 * What the caller is told of a limiter's rejection.
 *
 * @throws whatever was thrown, where it is not a refusal
 */
export function refusal({ points, duration }: BudgetSize, refused: unknown): AppError {
  if (!(refused instanceof RateLimiterRes)) throw refused;
  return new AppError('RATE_LIMITED', `more than ${points} requests in ${duration} s`, {
    retryAfterMs: Math.max(1, refused.msBeforeNext),
  });
}
