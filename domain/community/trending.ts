import type { Clock } from '../kernel/clock.js';
import type { EventBus } from '../kernel/events.js';
import { Article } from './article.model.js';
import { HeartCounts, type Window, type WindowCounts } from './heart-counts.js';

interface Leader {
  articleId: number;
  authorNo: number;
  title: string;
}

type Leaders = Readonly<Record<Window, Leader | undefined>>;

/** The articles with most hearts in a window, except those left out. */
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

interface Choice {
  leader: Leader | undefined;
  /** All articles with as many hearts as the leader. */
  tied: readonly number[];
}

/** The leaders for one version of the counts; `tied` is missing while they are being chosen. */
interface Chosen {
  version: number;
  leaders: Promise<Leaders>;
  tied?: Set<number>;
}

async function chooseLeader(counts: ReadonlyMap<number, WindowCounts>, window: Window): Promise<Choice> {
  const deleted = new Set<number>();
  for (;;) {
    const tied = mostHearted(counts, window, deleted);
    if (tied.length === 0) return { leader: undefined, tied };
    const article = await Article.findOne({ _id: { $in: tied }, state: 'live' }, { authorNo: 1, title: 1 })
      .sort({ views: -1, _id: -1 })
      .lean();
    if (article) {
      const { _id: articleId, authorNo, title } = article;
      return { leader: { articleId, authorNo, title }, tied };
    }
    // All are deleted; their hearts are about to be removed.
    for (const articleId of tied) deleted.add(articleId);
  }
}

/**
 * The articles with most hearts in the last 24 hours and 7 days, then most views, then newest.
 * Design: docs/decisions/hot-and-weekly.md.
 */
export class Trending {
  readonly #events: EventBus;
  readonly #counts: HeartCounts;
  #chosen: Chosen | undefined;
  readonly #published: Partial<Record<Window, { articleId: number; done: Promise<void> }>> = {};

  constructor(clock: Clock, events: EventBus) {
    this.#events = events;
    this.#counts = new HeartCounts(clock);
  }

  /** The live article that leads each window; undefined for a window without hearts. */
  async current(): Promise<Leaders> {
    await this.#counts.update();
    return this.#chosen?.version === this.#counts.version ? this.#chosen.leaders : this.#choose();
  }

  #choose(): Promise<Leaders> {
    const { counts, version } = this.#counts;
    const both = Promise.all([chooseLeader(counts, 'hot'), chooseLeader(counts, 'weekly')]);
    const choice: Chosen = {
      version,
      leaders: both.then(([hot, weekly]) => {
        choice.tied = new Set([hot, weekly].flatMap(({ tied }) => (tied.length > 1 ? tied : [])));
        return { hot: hot.leader, weekly: weekly.leader };
      }),
    };
    this.#chosen = choice;
    // A failure is not cached: the next call reads the database again.
    choice.leaders.catch(() => {
      if (this.#chosen === choice) this.#chosen = undefined;
    });
    return choice.leaders;
  }

  /** To be called after this process changed an article's hearts, or found it deleted. */
  heartsChanged(articleId: number): void {
    this.#counts.markDirty(articleId);
    this.#chosen = undefined;
  }

  /** To be called after this process counted a view, which breaks ties. */
  viewed(articleId: number): void {
    // While they are being chosen (`tied` is missing), the views may have been read already.
    if (this.#chosen?.tied?.has(articleId) ?? true) this.#chosen = undefined;
  }

  /** Publishes the leader of each window, unless this process published it last; listeners ignore repeats. */
  async publishLeaders(): Promise<void> {
    const { hot, weekly } = await this.current();
    if (hot) await this.#publishLeader('hot', hot);
    if (weekly) await this.#publishLeader('weekly', weekly);
  }

  async #publishLeader(window: Window, leader: Leader): Promise<void> {
    const last = this.#published[window];
    if (last?.articleId === leader.articleId) return last.done;
    const done = this.#events.publish('article.leading', { ...leader, window });
    this.#published[window] = { articleId: leader.articleId, done };
    try {
      await done;
    } catch (error) {
      if (this.#published[window]?.done === done) delete this.#published[window];
      throw error;
    }
  }
}
