import { AppError } from '../../kernel/errors.js';
import { announceOrLeave } from '../announce.js';
import type { CommunityDeps } from '../community-deps.js';
import { Heart, type HeartTarget, type StoredHeart } from './heart.model.js';

/** What a caller is told whose heart's target was deleted while it was being written. */
export function targetNotFound(target: HeartTarget): AppError {
  return new AppError(target === 'article' ? 'ARTICLE_NOT_FOUND' : 'COMMENT_NOT_FOUND');
}

/**
 * Does what follows from a heart given or taken: the count, and for articles the leaders'
 * announcement; then clears its mark. May be repeated, so a sweep can finish it after a crash.
 *
 * @returns how many hearts the target has now, or undefined when it is not live (any more)
 */
export async function finishHeart(
  { counters, trending, logger }: Pick<CommunityDeps, 'counters' | 'trending' | 'logger'>,
  heart: StoredHeart,
): Promise<number | undefined> {
  const { _id, target, id, on, turn } = heart;
  if (target === 'article') trending.heartsChanged(id);
  const count = await (target === 'article' ? counters.articleHearts(id) : counters.commentHearts(id));
  if (count === undefined) {
    // Its target's hearts may have been removed before this one was there.
    await Heart.deleteOne({ _id });
    return undefined;
  }
  const announced = target === 'comment' || (await announceOrLeave(logger, () => trending.announce()));
  if (!announced) return count;
  // A later give or take by the same member has its own turn, and its own mark to clear.
  await (on ? Heart.updateOne({ _id, turn }, { $unset: { pending: 1 } }) : Heart.deleteOne({ _id, turn }));
  return count;
}
