import { redisKeys } from '../../kernel/redis-keys.js';
import type { RedisConnection } from '../redis/connection.js';
import { loadScript } from '../redis/script.js';
import { type QuotaSizes, type Quotas, quotaExceeded, type Stored, WINDOW_MS } from './quotas.js';
import { createMemoryQuotas } from './quotas.memory.js';

type Take = Quotas['take'];

/**
 * All ask at once, but the callers of a member and kind go on in the order in which they came: a member's messages are
 * numbered as they were sent. A later answer is sooner if Redis stalls or has lost the script.
 */
function inOrder(take: Take): Take {
  /** Of each member and kind the latest call, as long as it runs. */
  const latest = new Map<string, ReturnType<Take>>();
  return (kind, memberNo) => {
    const key = `${kind}:${memberNo}`;
    const asked = take(kind, memberNo);
    const turn = Promise.allSettled([latest.get(key), asked]).then(() => asked);
    latest.set(key, turn);
    const end = () => {
      if (latest.get(key) === turn) latest.delete(key);
    };
    turn.then(end, end);
    return turn;
  };
}

/** Quotas shared by all processes; while Redis is down, each counts alone. */
export function createRedisQuotas(redis: RedisConnection, sizes: QuotaSizes): Quotas {
  const script = loadScript('domain/platform/rate-limits/quotas.lua');
  const alone = createMemoryQuotas(sizes);
  async function take(kind: Stored, memberNo: number): Promise<() => void> {
    const keys = [redisKeys.quota(kind, memberNo)];
    const answer = await redis.ask((commands) => script(commands, keys, ['take', sizes[kind], WINDOW_MS]));
    if (answer === undefined) return alone.take(kind, memberNo);
    const [waitMs, end = 0] = answer as [number, number?];
    if (waitMs > 0) throw quotaExceeded(sizes, kind, waitMs);
    return () => void redis.ask((commands) => script(commands, keys, ['give back', end]));
  }
  return { take: inOrder(take) };
}
