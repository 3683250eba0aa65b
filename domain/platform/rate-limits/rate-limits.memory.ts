import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type Budget, type Budgets, budgets, type RateLimits, refusal } from './rate-limits.js';

/** Limits counted by one process. */
export function createMemoryRateLimits(sizes: Budgets = budgets): RateLimits {
  const limiters = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, new RateLimiterMemory({ ...size, keyPrefix: name })]),
  ) as Record<Budget, RateLimiterMemory>;
  return {
    async take(budget, key) {
      try {
        await limiters[budget].consume(key);
      } catch (refused) {
        throw refusal(sizes[budget], refused);
      }
    },
  };
}
