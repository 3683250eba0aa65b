import { Cluster } from 'ioredis';
import type { RedisClient } from './clients.js';
import type { RedisConnection } from './connection.js';

/** How many of the keys there are. TOUCH, unlike EXISTS, keeps them from being evicted first, as unused. In a cluster they belong to different slots. */
async function countOf(commands: RedisClient, keys: string[]): Promise<number> {
  if (!(commands instanceof Cluster)) return commands.touch(...keys);
  const found = await Promise.all(keys.map((key) => commands.touch(key)));
  return found.reduce((sum, count) => sum + count, 0);
}

/** How many keys each server has evicted; undefined where this user may not ask. */
async function evictionsOf(commands: RedisClient): Promise<string | undefined> {
  const servers = commands instanceof Cluster ? commands.nodes('master') : [commands];
  try {
    const stats = await Promise.all(servers.map((server) => server.info('stats')));
    return stats.map((text) => /^evicted_keys:(\d+)/m.exec(text)?.[1]).join();
  } catch {
    return undefined;
  }
}

interface LossWatchDeps {
  redis: RedisConnection;
  /** Keys that never expire. */
  marks: string[];
  /** Marks are missing: Redis was emptied, or failed over to a server without the data. */
  onLoss(): void;
  /** Keys were evicted since the last look. */
  onEviction(): void;
}

/**
 * Looks regularly whether Redis still has what was written: it tells nobody that it has lost keys. The price of a look does not
 * depend on how much was written: one round trip, for the marks and for the number of evictions.
 */
export class LossWatch {
  readonly #deps: LossWatchDeps;
  readonly #timer: NodeJS.Timeout;
  #evictions: string | undefined;
  #isLooking = false;

  /** @param everyMs the interval of looks, ms */
  constructor(deps: LossWatchDeps, everyMs: number) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#look(), everyMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { redis, marks, onLoss, onEviction } = this.#deps;
    const answers = await redis.ask((commands) =>
      Promise.all([countOf(commands, marks), evictionsOf(commands)]),
    );
    this.#isLooking = false;
    if (!answers) return;
    const [count, evictions] = answers;
    const before = this.#evictions;
    this.#evictions = evictions;
    if (count < marks.length) onLoss();
    else if (before !== undefined && evictions !== undefined && evictions !== before) onEviction();
  }
}
