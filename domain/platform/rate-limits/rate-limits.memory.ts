import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type Budgets, limitsOf, type RateLimits } from './rate-limits.js';

/** Limits counted by one process. */
export function createMemoryRateLimits(sizes: Budgets): RateLimits {
  return limitsOf(sizes, (budget, size) => {
    const limiter = new RateLimiterMemory({ ...size, keyPrefix: budget });
    return (key, points) => limiter.consume(key, points);
  });
}
