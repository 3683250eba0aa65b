import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { redisKeys } from '../../kernel/redis-keys.js';
import { createCache } from '../cache.js';
import type { RedisConnection } from '../redis/connection.js';
import { type Budget, type BudgetSize, type Budgets, limitsOf, type RateLimits } from './rate-limits.js';

/**
 * Shares of a budget. A process takes a share from Redis and spends it locally, so that not every request
 * costs a round trip. What is unspent at the end of a window, at most a share, is lost to the others.
 */
const SHARES = 50;

/** Keys with a share in memory, per budget. */
const MAX_KEYS = 50_000;

/** The rest of a share and its expiry (performance.now()), or the share being fetched. */
type Share = { left: number; until: number } | Promise<void>;

function createLimiter(redis: RedisConnection, budget: Budget, size: BudgetSize) {
  const perShare = size.points % SHARES === 0 ? size.points / SHARES : 1;
  const shares = createCache<string, Share & object>(MAX_KEYS, size.duration * 1_000);
  const alone = new RateLimiterMemory({ ...size, keyPrefix: budget });
  const shared = new RateLimiterRedis({
    ...size,
    storeClient: redis.commands,
    keyPrefix: redisKeys.rateLimit(budget),
    insuranceLimiter: alone,
    // A key without budget is refused locally until the window ends.
    inMemoryBlockOnConsumed: size.points,
  });

  async function fetchShare(key: string): Promise<void> {
    const now = performance.now();
    try {
      const { msBeforeNext } = await (redis.down ? alone : shared).consume(key, perShare);
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
        const fetching = fetchShare(key);
        shares.set(key, fetching);
        await fetching;
      }
    }
  };
}

/** Limits shared by all processes; while Redis is down, each counts alone. */
export function createRedisRateLimits(redis: RedisConnection, sizes: Budgets): RateLimits {
  return limitsOf(sizes, (budget, size) => createLimiter(redis, budget, size));
}
