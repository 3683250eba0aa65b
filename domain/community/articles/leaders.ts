import type { Clock } from '../../kernel/clock.js';
import type { EventBus } from '../../kernel/events.js';
import { Heart } from '../hearts/heart.model.js';
import { coalesce } from '../recount.js';
import { Article } from './article.model.js';

const HOUR_MS = 3_600_000;

/** How far back, in ms, each window counts hearts. (contract, section 3) */
export const WINDOWS = { hot: 24 * HOUR_MS, weekly: 7 * 24 * HOUR_MS } as const;

export type Window = keyof typeof WINDOWS;

/** How long, in ms, a tally serves: what another process wrote is seen this late at most. */
const FRESH_MS = 1_000;

export interface Leader {
  articleId: number;
  authorNo: number;
  title: string;
}

/** Which articles lead the hearts of the last 24 hours and 7 days. Why so: docs/decisions/hot-and-weekly.md. */
export interface Leaders {
  /** The live article with most hearts in each window, then views, then newest; undefined where there is none. */
  standing(): Promise<Record<Window, Leader | undefined>>;
  /** Tells that this process has written a heart or deleted an article. */
  heartsChanged(): void;
  /** Tells that this process has counted a view of an article: views decide between equals. */
  viewed(articleId: number): void;
  /** Announces each leader that this process has not announced last; listeners know the rest. */
  announce(): Promise<void>;
}

interface Tally {
  leader: Leader | undefined;
  /** All articles with as many hearts as the leader. */
  tied: ReadonlySet<number>;
}

/** The articles with most hearts since an instant, the given ones left out. */
async function mostHearted(since: Date, leftOut: number[]): Promise<number[]> {
  const [top] = await Heart.aggregate<{ articles: number[] }>([
    {
      $match: {
        target: 'article',
        on: true,
        at: { $gt: since },
        ...(leftOut.length > 0 ? { id: { $nin: leftOut } } : {}),
      },
    },
    { $group: { _id: '$id', hearts: { $sum: 1 } } },
    { $group: { _id: '$hearts', articles: { $push: '$_id' } } },
    { $sort: { _id: -1 } },
    { $limit: 1 },
  ]);
  return top?.articles ?? [];
}

async function tallyWindow(since: Date): Promise<Tally> {
  const dead: number[] = [];
  for (;;) {
    const tied = await mostHearted(since, dead);
    if (tied.length === 0) return { leader: undefined, tied: new Set() };
    const article = await Article.findOne({ _id: { $in: tied }, state: 'live' }, { authorNo: 1, title: 1 })
      .sort({ views: -1, _id: -1 })
      .lean();
    if (article) {
      const { _id: articleId, authorNo, title } = article;
      return { leader: { articleId, authorNo, title }, tied: new Set(tied) };
    }
    // All of them are being deleted at this moment; their hearts are about to go.
    dead.push(...tied);
  }
}

/** Whether a view of this article may have moved it before its equals. */
function decidesBetweenEquals(tallies: Record<Window, Tally>, articleId: number): boolean {
  return [tallies.hot, tallies.weekly].some(({ tied }) => tied.size > 1 && tied.has(articleId));
}

export function createLeaders(clock: Clock, events: EventBus): Leaders {
  /** Moves with every heart and deletion of this process: a tally begun before one is not kept. */
  let generation = 0;
  /** Articles viewed since the tally under way began, which may have read their views before. */
  const viewedMeanwhile = new Set<number>();
  let known: { at: number; tallies: Record<Window, Tally> } | undefined;
  let underWay: { generation: number; tallies: Promise<Record<Window, Tally>> } | undefined;
  const announced: Partial<Record<Window, { articleId: number; done: Promise<void> }>> = {};

  async function tallyBoth(): Promise<Record<Window, Tally>> {
    const begun = generation;
    viewedMeanwhile.clear();
    const at = clock.now();
    const [hot, weekly] = await Promise.all([
      tallyWindow(new Date(at - WINDOWS.hot)),
      tallyWindow(new Date(at - WINDOWS.weekly)),
    ]);
    const tallies = { hot, weekly };
    const outdated = [...viewedMeanwhile].some((articleId) => decidesBetweenEquals(tallies, articleId));
    if (begun === generation && !outdated) known = { at, tallies };
    return tallies;
  }

  const tallyAgain = coalesce((_: 'both') => {
    const tallies = tallyBoth();
    underWay = { generation, tallies };
    return tallies.finally(() => {
      underWay = undefined;
    });
  });

  function tallies(): Promise<Record<Window, Tally>> {
    const age = known ? clock.now() - known.at : Number.NaN;
    if (known && age >= 0 && age < FRESH_MS) return Promise.resolve(known.tallies);
    // One that is under way will do if nothing has happened since it began.
    const current = underWay?.generation === generation && viewedMeanwhile.size === 0;
    return current && underWay ? underWay.tallies : tallyAgain('both');
  }

  async function announceLeader(window: Window, leader: Leader): Promise<void> {
    const last = announced[window];
    if (last?.articleId === leader.articleId) return last.done;
    const done = events.announce('article.leading', { ...leader, window });
    announced[window] = { articleId: leader.articleId, done };
    try {
      await done;
    } catch (error) {
      if (announced[window]?.done === done) delete announced[window];
      throw error;
    }
  }

  return {
    async standing() {
      const { hot, weekly } = await tallies();
      return { hot: hot.leader, weekly: weekly.leader };
    },
    heartsChanged() {
      generation += 1;
      known = undefined;
    },
    viewed(articleId) {
      if (underWay) viewedMeanwhile.add(articleId);
      if (known && decidesBetweenEquals(known.tallies, articleId)) known = undefined;
    },
    async announce() {
      const { hot, weekly } = await tallies();
      if (hot.leader) await announceLeader('hot', hot.leader);
      if (weekly.leader) await announceLeader('weekly', weekly.leader);
    },
  };
}
