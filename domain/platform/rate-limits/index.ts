import { AppError } from '../../kernel/errors.js';
import { metrics } from '../observe/metrics.js';
import type { RedisConnection } from '../redis/connection.js';
import type { Config } from '../settings/config.js';
import type { Quotas } from './quotas.js';
import { createMemoryQuotas } from './quotas.memory.js';
import { createRedisQuotas } from './quotas.redis.js';
import { budgets, type RateLimits } from './rate-limits.js';
import { createMemoryRateLimits } from './rate-limits.memory.js';
import { createRedisRateLimits } from './rate-limits.redis.js';

export type { Quotas } from './quotas.js';
export type { Budget, RateLimits } from './rate-limits.js';

/** No limit: load tests, closed networks. */
const unlimited: RateLimits = { take: async () => {} };

const nothing = () => {};

/** No quota, likewise. */
export const unlimitedQuotas: Quotas = { take: async () => nothing };

/**
 * @param on false disables all limits
 * @param redis in which processes count together; without it each counts alone
 */
export function createRateLimits(on: boolean, redis?: RedisConnection): RateLimits {
  if (!on) return unlimited;
  return redis ? createRedisRateLimits(redis, budgets) : createMemoryRateLimits(budgets);
}

function countRefusals(quotas: Quotas): Quotas {
  return {
    take: (kind, memberNo) =>
      quotas.take(kind, memberNo).catch((error) => {
        if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED')
          metrics.limitHits.inc({ limit: `${kind}-per-day` });
        throw error;
      }),
  };
}

type QuotaSettings = Pick<
  Config,
  'RATE_LIMIT' | 'ROOMS_PER_DAY' | 'MESSAGES_PER_DAY' | 'ARTICLES_PER_DAY' | 'COMMENTS_PER_DAY'
>;

/** The quotas of the settings, or none. A single process without Redis counts anew when it restarts. */
export function createQuotas(config: QuotaSettings, redis?: RedisConnection): Quotas {
  if (config.RATE_LIMIT === 'off') return unlimitedQuotas;
  const sizes = {
    rooms: config.ROOMS_PER_DAY,
    messages: config.MESSAGES_PER_DAY,
    articles: config.ARTICLES_PER_DAY,
    comments: config.COMMENTS_PER_DAY,
  };
  return countRefusals(redis ? createRedisQuotas(redis, sizes) : createMemoryQuotas(sizes));
}
