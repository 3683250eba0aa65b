import type { RedisConnection } from './platform/redis/connection.js';

/** Longest time, ms, until an outage of Redis is noticed (platform/redis: check, echo, silence). */
const UNNOTICED_MS = 5_000;

/**
 * After each outage of Redis, sends again what this process may have published in vain.
 * @param resend sends what has changed since then (performance.now()), until `isOver`
 * @returns ends it
 */
export function resendAfterOutages(
  redis: Pick<RedisConnection, 'on'>,
  resend: (since: number, isOver: () => boolean) => Promise<void>,
): () => void {
  let lostSince = Number.NEGATIVE_INFINITY;
  /** When everything had been sent again. */
  let resentAt = Number.NEGATIVE_INFINITY;
  let outages = 0;
  const stopListening = [
    redis.on('down', () => {
      outages += 1;
      const since = performance.now() - UNNOTICED_MS;
      // What a resend published later than this may be lost, too: the next one begins where it began.
      if (resentAt < since) lostSince = since;
      resentAt = Number.POSITIVE_INFINITY;
    }),
    redis.on('up', async () => {
      resentAt = Number.POSITIVE_INFINITY;
      const before = outages;
      const isOver = () => outages !== before;
      await resend(lostSince, isOver);
      if (!isOver()) resentAt = performance.now();
    }),
  ];
  return () => {
    for (const stop of stopListening) stop();
  };
}
