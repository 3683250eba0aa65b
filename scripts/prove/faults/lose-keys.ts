import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** Pause between two limits, ms, and bytes that have to be freed for each: some of a small run's keys, not all. */
const LIMIT_EVERY_MS = 200;
const BYTES = 10_000;

async function withRedis(uri: string, work: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(uri);
  try {
    await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Empties Redis when it begins, and when it ends. */
export function flush(uri: string, last: () => Promise<void>): Promise<void> {
  return withRedis(uri, async (redis) => {
    await redis.flushall();
    await last();
    await redis.flushall();
  });
}

/** Redis is at its limit of memory, and evicts keys at random: some again and again, or all. */
export function evict(uri: string, ofAll: boolean, last: () => Promise<void>): Promise<void> {
  return withRedis(uri, async (redis) => {
    let isOver = false;
    const lasting = last().finally(() => {
      isOver = true;
    });
    await redis.config('SET', 'maxmemory-policy', 'allkeys-random');
    while (!isOver) {
      const [, used] = /^used_memory:(\d+)/m.exec(await redis.info('memory')) ?? [];
      await redis.config('SET', 'maxmemory', ofAll ? 1 : Number(used) - BYTES);
      await sleep(LIMIT_EVERY_MS);
    }
    await redis.config('SET', 'maxmemory', 0);
    await lasting;
  });
}
