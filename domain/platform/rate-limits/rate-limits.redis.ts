import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { redisKeys } from '../../kernel/redis-keys.js';
import { createCache } from '../async/cache.js';
import type { RedisConnection } from '../redis/connection.js';
import {
  type Budget,
  type BudgetSize,
  type Budgets,
  limitsOf,
  type RateLimits,
  waitOf,
} from './rate-limits.js';

/**
 * Shares of a budget. A process takes a share from Redis and spends it locally, so that not every request
 * costs a round trip. What is unspent at the end of a window, at most a share, is lost to the others.
 */
const SHARES = 50;

/** Keys with a share in memory, per budget. */
const MAX_KEYS = 50_000;

interface Share {
  left: number;
  /** Whether the key has no budget left. */
  isRefused: boolean;
  /** By performance.now(). */
  until: number;
}

/** Takes points of a share. @returns whether it had them @throws RateLimiterRes if the key is refused */
function takeFrom(share: Share, points: number): boolean {
  const wait = share.until - performance.now();
  if (wait <= 0) return false;
  if (share.isRefused) throw new RateLimiterRes(0, wait);
  share.left -= points;
  return share.left >= 0;
}

function createLimiter(redis: RedisConnection, budget: Budget, size: BudgetSize) {
  const perShare = size.points % SHARES === 0 ? size.points / SHARES : 1;
  const shares = createCache<string, Share | Promise<void>>(MAX_KEYS, size.duration * 1_000);
  const alone = new RateLimiterMemory({ ...size, keyPrefix: budget });
  const shared = new RateLimiterRedis({
    ...size,
    storeClient: redis.commands,
    keyPrefix: redisKeys.rateLimit(budget),
    insuranceLimiter: alone,
  });

  /** @param least points that the share has to have */
  async function fetchShare(key: string, least: number): Promise<void> {
    const now = performance.now();
    const left = Math.max(perShare, least);
    try {
      const { msBeforeNext } = await (redis.down ? alone : shared).consume(key, left);
      shares.set(key, { left, isRefused: false, until: now + waitOf(size, msBeforeNext) });
    } catch (error) {
      // Refused here until the window ends, without more calls. Not by the library, which goes by the time of day.
      if (error instanceof RateLimiterRes) {
        const until = performance.now() + waitOf(size, error.msBeforeNext);
        shares.set(key, { left: 0, isRefused: true, until });
      } else shares.delete(key);
      throw error;
    }
  }

  return async (key: string, points: number): Promise<void> => {
    for (;;) {
      const share = shares.get(key);
      if (share instanceof Promise) {
        await share;
      } else {
        if (share && takeFrom(share, points)) return;
        const fetching = fetchShare(key, points);
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
