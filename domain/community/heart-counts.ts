import type { Clock } from '../kernel/clock.js';
import { joinNext, joinRunning } from '../platform/async/shared-runs.js';
import { Heart } from './heart.model.js';

const HOUR_MS = 3_600_000;

/** Length of each window, ms. (contract, section 3) */
const WINDOWS = { hot: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

export type Window = keyof typeof WINDOWS;

/** Shortest time, ms, a full count is used: other processes' hearts are seen this much later. */
const FRESH_MS = 1_000;

/** A full count is used this many times as long as it took, so that counting takes at most 2 % of the time. */
const FRESH_PER_COST = 50;

/** An article's hearts in each window. */
export type WindowCounts = Readonly<Record<Window, number>>;

async function countEverything(now: number): Promise<Map<number, WindowCounts>> {
  const groups = await Heart.aggregate<{ _id: number } & WindowCounts>([
    { $match: { target: 'article', on: true, at: { $gt: new Date(now - WINDOWS.weekly) } } },
    {
      $group: {
        _id: '$id',
        weekly: { $sum: 1 },
        hot: { $sum: { $cond: [{ $gt: ['$at', new Date(now - WINDOWS.hot)] }, 1, 0] } },
      },
    },
  ]);
  return new Map(groups.map(({ _id, hot, weekly }) => [_id, { hot, weekly }]));
}

async function countOne(id: number, now: number): Promise<WindowCounts> {
  const inWindow = (window: Window) =>
    Heart.countDocuments({ target: 'article', id, on: true, at: { $gt: new Date(now - WINDOWS[window]) } });
  const [hot, weekly] = await Promise.all([inWindow('hot'), inWindow('weekly')]);
  return { hot, weekly };
}

/**
 * The hearts of every article in each window. All are counted periodically; articles whose hearts this
 * process changed are counted singly and at once, so that its own writes always show. Design:
 * docs/decisions/hot-and-weekly.md.
 */
export class HeartCounts {
  readonly #clock: Clock;
  #counts = new Map<number, WindowCounts>();
  #version = 0;
  /** When the full count may be used, by the clock. */
  #fresh = { from: 0, until: Number.NEGATIVE_INFINITY };
  /** Articles changed since they were counted, with the number of their last change. */
  readonly #dirty = new Map<number, number>();
  #changes = 0;
  /** Articles changed during the full count that is running. */
  #changedMeanwhile: Set<number> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Every article with a heart in a window. */
  get counts(): ReadonlyMap<number, WindowCounts> {
    return this.#counts;
  }

  /** Rises whenever `counts` changes. */
  get version(): number {
    return this.#version;
  }

  /** Reports that this process changed an article's hearts. */
  markDirty(articleId: number): void {
    this.#dirty.set(articleId, ++this.#changes);
    this.#changedMeanwhile?.add(articleId);
  }

  /** Resolves when the counts include all writes of this process before the call. */
  async update(): Promise<void> {
    const now = this.#clock.now();
    if (now < this.#fresh.from || now >= this.#fresh.until) await this.#countAll();
    await Promise.all([...this.#dirty.keys()].map(this.#countDirty));
  }

  readonly #countAll = joinRunning(async () => {
    const changed = new Set<number>();
    this.#changedMeanwhile = changed;
    const now = this.#clock.now();
    const startedAt = performance.now();
    try {
      this.#counts = await countEverything(now);
    } finally {
      this.#changedMeanwhile = undefined;
    }
    this.#version += 1;
    const cost = performance.now() - startedAt;
    this.#fresh = { from: now, until: now + Math.max(FRESH_MS, FRESH_PER_COST * cost) };
    // They may have been read before they changed, even if counted singly since.
    for (const articleId of changed) this.#dirty.set(articleId, ++this.#changes);
  });

  readonly #countDirty = joinNext(async (articleId: number) => {
    const change = this.#dirty.get(articleId);
    if (change === undefined) return;
    const counted = await countOne(articleId, this.#clock.now());
    if (counted.weekly > 0) this.#counts.set(articleId, counted);
    else this.#counts.delete(articleId);
    this.#version += 1;
    if (this.#dirty.get(articleId) === change) this.#dirty.delete(articleId);
  });
}
