import { Article } from './articles/article.model.js';
import { finishArticleDeletion } from './articles/delete-article.js';
import { Comment } from './comments/comment.model.js';
import { finishComment } from './comments/finish-comment.js';
import type { CommunityDeps } from './community-deps.js';
import { finishHeart } from './hearts/finish-heart.js';
import { Heart } from './hearts/heart.model.js';

/** Age, in ms, at which a mark is taken to be left by a crash and not by a call that is under way. */
const LEFT_BEHIND_MS = 5_000;

type SweepParts = Pick<CommunityDeps, 'clock' | 'counters' | 'events' | 'trending' | 'logger'>;

/**
 * @returns a function that finishes what a crash or a failing listener left unfinished: counts,
 *   announcements, deletions. The first run takes every mark, since whoever set them before this
 *   process began may be gone; redoing one that is still under way elsewhere changes nothing.
 */
export function createSweep(parts: SweepParts): (signal?: AbortSignal) => Promise<void> {
  const { clock, trending, logger } = parts;
  let first = true;

  /** One record that cannot be finished must not keep the others from it. */
  async function attempt(what: string, id: unknown, finish: () => Promise<unknown>): Promise<void> {
    try {
      await finish();
    } catch (error) {
      logger.warn({ err: error, id }, `a sweep could not finish ${what}; the next one tries again`);
    }
  }

  return async function sweep(signal) {
    const pending = { $exists: true, $lte: new Date(clock.now() - (first ? 0 : LEFT_BEHIND_MS)) };
    for await (const { _id } of Article.find({ pending }, { _id: 1 }).lean().cursor()) {
      await attempt('the deletion of an article', _id, () => finishArticleDeletion(_id));
      if (signal?.aborted) return;
    }
    for await (const comment of Comment.find({ pending }).lean().cursor()) {
      await attempt('a comment', comment._id, () => finishComment(parts, comment));
      if (signal?.aborted) return;
    }
    for await (const heart of Heart.find({ pending }).lean().cursor()) {
      await attempt('a heart', heart.id, () => finishHeart(parts, heart));
      if (signal?.aborted) return;
    }
    // Time itself makes leaders too: when older hearts leave a window, nobody calls.
    await trending.announce();
    first = false;
  };
}
