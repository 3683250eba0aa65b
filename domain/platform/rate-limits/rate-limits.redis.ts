import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { redisKeys } from '../../kernel/redis-keys.js';
import { createCache } from '../cache.js';
import type { RedisConnection } from '../redis/connection.js';
import {
  type Budget,
  type BudgetSize,
  type Budgets,
  budgets,
  type RateLimits,
  refusal,
} from './rate-limits.js';

/**
 * Into how many shares a budget is divided. A process takes a share at a time and spends it by itself,
 * so that Redis is asked once in as many requests as a share has. What a process leaves unspent at the
 * end of a window is lost to the others: at most one share each.
 */
const SHARES = 50;

/** Keys whose shares are kept at a time, per budget. */
const MAX_KEYS = 50_000;

/** What is left of a share, or the share on its way. */
type Share = { left: number; until: number } | Promise<void>;

function createLimiter(redis: RedisConnection, budget: Budget, size: BudgetSize) {
  const perShare = size.points % SHARES === 0 ? size.points / SHARES : 1;
  const shares = createCache<string, Share & object>(MAX_KEYS);
  const alone = new RateLimiterMemory({ ...size, keyPrefix: budget });
  const shared = new RateLimiterRedis({
    ...size,
    storeClient: redis.commands,
    keyPrefix: redisKeys.rateLimit(budget),
    insuranceLimiter: alone,
    // A key that has used its budget up is refused here until the window ends.
    inMemoryBlockOnConsumed: size.points,
  });

  async function fetchShare(key: string): Promise<void> {
    const now = performance.now();
    try {
      const { msBeforeNext } = await (redis.away ? alone : shared).consume(key, perShare);
      shares.set(key, { left: perShare, until: now + msBeforeNext });
    } catch (error) {
      shares.delete(key);
      throw error;
    }
  }

  return async (key: string): Promise<void> => {
    for (;;) {
      const share = shares.get(key);
      if (share instanceof Promise) {
        await share;
      } else if (share && share.left > 0 && performance.now() < share.until) {
        share.left -= 1;
        return;
      } else {
        const coming = fetchShare(key);
        shares.set(key, coming);
        await coming;
      }
    }
  };
}

/** Limits that all processes keep together; each by itself while Redis is away. */
export function createRedisRateLimits(redis: RedisConnection, sizes: Budgets = budgets): RateLimits {
  const limiters = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, createLimiter(redis, name as Budget, size)]),
  ) as Record<Budget, ReturnType<typeof createLimiter>>;
  return {
    async take(budget, key) {
      try {
        await limiters[budget](String(key));
      } catch (refused) {
        throw refusal(sizes[budget], refused);
      }
    },
  };
}
