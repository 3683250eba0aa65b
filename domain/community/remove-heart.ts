import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import type { CommunityDeps } from './community-deps.js';
import { finishHeart, targetNotFound } from './finish-heart.js';
import { Heart, type HeartTarget } from './heart.model.js';
import { requireTarget } from './require-target.js';

/**
 * Removes a member's heart from an article or comment.
 *
 * @returns how many hearts the target has now
 * @throws AppError ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, HEART_NOT_FOUND
 */
export async function removeHeart(
  deps: Pick<CommunityDeps, 'clock' | 'counters' | 'trending' | 'logger'>,
  actor: Actor,
  target: HeartTarget,
  id: number,
): Promise<number> {
  const heart = await Heart.findOneAndUpdate(
    { target, id, memberNo: actor.no, on: true },
    { $set: { on: false, pending: new Date(deps.clock.now()) }, $inc: { turn: 1 } },
    { returnDocument: 'after' },
  ).lean();
  if (!heart) {
    await requireTarget(target, id);
    throw new AppError('HEART_NOT_FOUND');
  }
  const count = await finishHeart(deps, heart);
  if (count === undefined) throw targetNotFound(target);
  return count;
}
