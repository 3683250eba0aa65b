import { AppError } from '../kernel/errors.js';
import type { CommunityDeps } from './community-deps.js';
import { Heart, type HeartTarget, type StoredHeart } from './heart.model.js';
import { tryPublish } from './try-publish.js';

/** For a heart whose target was deleted meanwhile. */
export function targetNotFound(target: HeartTarget): AppError {
  return new AppError(target === 'article' ? 'ARTICLE_NOT_FOUND' : 'COMMENT_NOT_FOUND');
}

/**
 * Finishes giving or removing a heart: updates the count, publishes new leaders, clears the mark. Repeatable,
 * so that a sweep can finish it after a crash.
 *
 * @returns how many hearts the target has, undefined if it is not live
 */
export async function finishHeart(
  { counters, trending, logger }: Pick<CommunityDeps, 'counters' | 'trending' | 'logger'>,
  heart: StoredHeart,
): Promise<number | undefined> {
  const { _id, target, id, on, turn } = heart;
  if (target === 'article') trending.heartsChanged(id);
  const count = await (target === 'article' ? counters.articleHearts(id) : counters.commentHearts(id));
  if (count === undefined) {
    // The target's hearts may have been removed before this one was stored.
    await Heart.deleteOne({ _id });
    return undefined;
  }
  const published = target === 'comment' || (await tryPublish(logger, () => trending.publishLeaders()));
  if (!published) return count;
  // Keeps the mark of a later change by the same member, which has another `turn`.
  await (on ? Heart.updateOne({ _id, turn }, { $unset: { pending: 1 } }) : Heart.deleteOne({ _id, turn }));
  return count;
}
