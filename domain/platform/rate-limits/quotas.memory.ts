import { createCache } from '../async/cache.js';
import { type QuotaSizes, type Quotas, quotaExceeded, type Stored, WINDOW_MS } from './quotas.js';

/**
 * Members counted per kind; beyond it, the one who has stored nothing for the longest time begins anew. Not
 * rate-limiter-flexible: it has no such bound, and keeps a timer per key, here for a day.
 */
const MAX_MEMBERS = 100_000;

/** What a member has stored, and the end of the window (performance.now()). */
interface Count {
  stored: number;
  until: number;
}

/** Quotas counted by one process. */
export function createMemoryQuotas(sizes: QuotaSizes): Quotas {
  const counts: Record<Stored, ReturnType<typeof createCache<number, Count>>> = {
    rooms: createCache(MAX_MEMBERS, WINDOW_MS),
    messages: createCache(MAX_MEMBERS, WINDOW_MS),
    articles: createCache(MAX_MEMBERS, WINDOW_MS),
    comments: createCache(MAX_MEMBERS, WINDOW_MS),
  };
  return {
    async take(kind, memberNo) {
      const now = performance.now();
      let count = counts[kind].get(memberNo);
      if (!count || count.until <= now) {
        count = { stored: 0, until: now + WINDOW_MS };
        counts[kind].set(memberNo, count);
      }
      if (count.stored >= sizes[kind]) throw quotaExceeded(sizes, kind, count.until - now);
      count.stored += 1;
      return () => {
        count.stored -= 1;
      };
    },
  };
}
