import type { Clock } from '../../kernel/clock.js';
import { coalesce } from '../../platform/single-flight.js';
import { Heart } from './heart.model.js';

const HOUR_MS = 3_600_000;

/** How far back, in ms, each window counts hearts. (contract, section 3) */
const WINDOWS = { hot: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

export type Window = keyof typeof WINDOWS;

/** How long, in ms, a full tally serves at least: what other processes wrote is seen this late. */
const FRESH_MS = 1_000;

/** A full tally serves this many times as long as it took: it never costs more than 2 % of the time. */
const FRESH_PER_COST = 50;

/** The hearts an article has in each window. */
export type WindowCounts = Readonly<Record<Window, number>>;

/**
 * How many hearts every article has in each window. All of them are counted now and then; articles
 * whose hearts this process has changed are counted singly, at once, so that it always answers by
 * its own writes. Why so: docs/decisions/hot-and-weekly.md.
 */
export interface HeartCounts {
  /** Brings the counts up to date with every write of this process so far. */
  update(): Promise<void>;
  /** Every article with a heart in a window. */
  readonly counts: ReadonlyMap<number, WindowCounts>;
  /** Moves whenever `counts` does. */
  readonly version: number;
  /** Tells that this process has changed an article's hearts. */
  markDirty(articleId: number): void;
}

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

export function createHeartCounts(clock: Clock): HeartCounts {
  let counts = new Map<number, WindowCounts>();
  let version = 0;
  /** Until when, by the clock, and since when the full tally serves. */
  let fresh = { from: 0, until: Number.NEGATIVE_INFINITY };
  /** Articles changed since they were counted last, each with the number of its last change. */
  const changed = new Map<number, number>();
  let changes = 0;
  let underWay: { done: Promise<void>; touched: Set<number> } | undefined;

  async function countAll(touched: ReadonlySet<number>): Promise<void> {
    const now = clock.now();
    const startedAt = performance.now();
    counts = await countEverything(now);
    version += 1;
    fresh = {
      from: now,
      until: now + Math.max(FRESH_MS, FRESH_PER_COST * (performance.now() - startedAt)),
    };
    // It may have read these before they changed, even where they have been counted singly since.
    for (const articleId of touched) changed.set(articleId, ++changes);
  }

  function refresh(): Promise<void> {
    if (underWay) return underWay.done;
    const touched = new Set<number>();
    const done = countAll(touched).finally(() => {
      underWay = undefined;
    });
    underWay = { done, touched };
    return done;
  }

  const countChanged = coalesce(async (articleId: number) => {
    const change = changed.get(articleId);
    if (change === undefined) return;
    const counted = await countOne(articleId, clock.now());
    if (counted.weekly > 0) counts.set(articleId, counted);
    else counts.delete(articleId);
    version += 1;
    if (changed.get(articleId) === change) changed.delete(articleId);
  });

  return {
    async update() {
      const now = clock.now();
      if (now < fresh.from || now >= fresh.until) await refresh();
      await Promise.all([...changed.keys()].map(countChanged));
    },
    get counts() {
      return counts;
    },
    get version() {
      return version;
    },
    markDirty(articleId) {
      changed.set(articleId, ++changes);
      underWay?.touched.add(articleId);
    },
  };
}
