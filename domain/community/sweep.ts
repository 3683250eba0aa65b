import { metrics } from '../platform/observe/metrics.js';
import { Article } from './article.model.js';
import { Comment } from './comment.model.js';
import type { CommunityDeps } from './community-deps.js';
import { finishArticleDeletion } from './delete-article.js';
import { finishComment } from './finish-comment.js';
import { finishHeart } from './finish-heart.js';
import { Heart } from './heart.model.js';

/**
 * Age, ms, from which a mark counts as left by a crash, not by a call in progress. One as far in the future is from a
 * process whose clock was wrong, and counts as well: it would not be finished before that time.
 */
const LEFT_BEHIND_MS = 5_000;

type SweepDeps = Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'trending' | 'logger'>;

/**
 * @returns a function that finishes what a crash or a failed listener left unfinished: counts, events,
 *   deletions. The first run processes every mark, as a process that has ended may have set it; repeating
 *   what another process is finishing changes nothing. The signal stops it after the current record.
 */
export function createSweep(deps: SweepDeps): (signal?: AbortSignal) => Promise<void> {
  const { clock, trending, logger } = deps;
  let first = true;

  return async function sweep(signal) {
    const marked = { pending: { $exists: true } };
    const isInProgress = (since?: Date) =>
      !first && since !== undefined && Math.abs(clock.now() - since.getTime()) < LEFT_BEHIND_MS;

    /** Finishes a marked record, or leaves it to the next sweep. */
    async function finishOne<T extends { _id: unknown }>(
      what: string,
      record: T,
      finish: (record: T) => Promise<unknown>,
    ): Promise<void> {
      try {
        await finish(record);
      } catch (error) {
        logger.warn({ err: error, id: record._id }, `a sweep could not finish ${what}; the next one retries`);
      }
    }

    async function finishAll<T extends { _id: unknown; pending?: Date }>(
      what: string,
      records: AsyncIterable<T>,
      finish: (record: T) => Promise<unknown>,
    ): Promise<void> {
      if (signal?.aborted) return;
      for await (const record of records) {
        if (!isInProgress(record.pending)) await finishOne(what, record, finish);
        if (signal?.aborted) return;
      }
    }

    const deleted = Article.find(marked, { pending: 1 }).lean().cursor();
    await finishAll('the deletion of an article', deleted, async ({ _id }) => {
      await finishArticleDeletion(_id);
      metrics.driftMended.inc({ what: 'article-deletion' });
    });
    const comments = Comment.find(marked).lean().cursor();
    await finishAll('a comment', comments, (comment) => finishComment(deps, comment));
    const hearts = Heart.find(marked).lean().cursor();
    await finishAll('a heart', hearts, (heart) => finishHeart(deps, heart));
    if (signal?.aborted) return;
    // Leaders also change when older hearts leave a window.
    await trending.publishLeaders();
    first = false;
  };
}
