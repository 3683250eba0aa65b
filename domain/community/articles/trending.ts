import type { Clock } from '../../kernel/clock.js';
import type { EventBus } from '../../kernel/events.js';
import { createHeartCounts, type Window, type WindowCounts } from '../hearts/heart-counts.js';
import { Article } from './article.model.js';

export interface Leader {
  articleId: number;
  authorNo: number;
  title: string;
}

export type Standing = Readonly<Record<Window, Leader | undefined>>;

/** Which articles lead the hearts of the last 24 hours and 7 days. Why so: docs/decisions/hot-and-weekly.md. */
export interface Trending {
  /** The live article with most hearts in each window, then views, then newest; undefined where there is none. */
  standing(): Promise<Standing>;
  /** Tells that this process has changed an article's hearts, or learnt that it was deleted. */
  heartsChanged(articleId: number): void;
  /** Tells that this process has counted a view of an article: views decide between equals. */
  viewed(articleId: number): void;
  /** Announces each leader that this process has not announced last; listeners know the rest. */
  announce(): Promise<void>;
}

/** The articles with most hearts in a window, those left out aside. */
function mostHearted(
  counts: ReadonlyMap<number, WindowCounts>,
  window: Window,
  leftOut: ReadonlySet<number>,
): number[] {
  let most = 1;
  let articles: number[] = [];
  for (const [articleId, { [window]: hearts }] of counts) {
    if (hearts < most || leftOut.has(articleId)) continue;
    if (hearts > most) articles = [];
    most = hearts;
    articles.push(articleId);
  }
  return articles;
}

interface Picked {
  leader: Leader | undefined;
  /** All articles with as many hearts as the leader. */
  equals: readonly number[];
}

async function pickLeader(counts: ReadonlyMap<number, WindowCounts>, window: Window): Promise<Picked> {
  const dead = new Set<number>();
  for (;;) {
    const equals = mostHearted(counts, window, dead);
    if (equals.length === 0) return { leader: undefined, equals };
    const article = await Article.findOne({ _id: { $in: equals }, state: 'live' }, { authorNo: 1, title: 1 })
      .sort({ views: -1, _id: -1 })
      .lean();
    if (article) {
      const { _id: articleId, authorNo, title } = article;
      return { leader: { articleId, authorNo, title }, equals };
    }
    // All of them are deleted, and their hearts are about to go.
    for (const articleId of equals) dead.add(articleId);
  }
}

export function createTrending(clock: Clock, events: EventBus): Trending {
  const tally = createHeartCounts(clock);
  /** What was picked from the tally's present version; `among` is unknown while that is under way. */
  let picked: { version: number; standing: Promise<Standing>; among?: Set<number> } | undefined;
  const announced: Partial<Record<Window, { articleId: number; done: Promise<void> }>> = {};

  function pick(): Promise<Standing> {
    const { counts, version } = tally;
    const pair = Promise.all([pickLeader(counts, 'hot'), pickLeader(counts, 'weekly')]);
    const mine: NonNullable<typeof picked> = {
      version,
      standing: pair.then(([hot, weekly]) => {
        const equals = [hot, weekly].flatMap((each) => (each.equals.length > 1 ? each.equals : []));
        mine.among = new Set(equals);
        return { hot: hot.leader, weekly: weekly.leader };
      }),
    };
    picked = mine;
    // A failure is not kept: the next call asks the database again.
    mine.standing.catch(() => {
      if (picked === mine) picked = undefined;
    });
    return mine.standing;
  }

  async function standing(): Promise<Standing> {
    await tally.update();
    return picked?.version === tally.version ? picked.standing : pick();
  }

  async function announceLeader(window: Window, leader: Leader): Promise<void> {
    const last = announced[window];
    if (last?.articleId === leader.articleId) return last.done;
    const done = events.publish('article.leading', { ...leader, window });
    announced[window] = { articleId: leader.articleId, done };
    try {
      await done;
    } catch (error) {
      if (announced[window]?.done === done) delete announced[window];
      throw error;
    }
  }

  return {
    standing,
    heartsChanged(articleId) {
      tally.markDirty(articleId);
      picked = undefined;
    },
    viewed(articleId) {
      if (picked && (picked.among?.has(articleId) ?? true)) picked = undefined;
    },
    async announce() {
      const { hot, weekly } = await standing();
      if (hot) await announceLeader('hot', hot);
      if (weekly) await announceLeader('weekly', weekly);
    },
  };
}
