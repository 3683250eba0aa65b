import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import type { CommunityDeps } from './community-deps.js';
import { finishHeart, targetNotFound } from './finish-heart.js';
import { Heart, type HeartTarget } from './heart.model.js';
import { requireTarget } from './require-target.js';

/**
 * Gives a member's heart to an article or comment.
 *
 * @returns how many hearts the target has now
 * @throws AppError ARTICLE_NOT_FOUND, COMMENT_NOT_FOUND, ALREADY_HEARTED
 */
export async function giveHeart(
  deps: Pick<CommunityDeps, 'clock' | 'counters' | 'trending' | 'logger'>,
  actor: Actor,
  target: HeartTarget,
  id: number,
): Promise<number> {
  const articleId = await requireTarget(target, id);
  const heart = await writeHeart(new Date(deps.clock.now()), actor.no, target, id, articleId);
  const count = await finishHeart(deps, heart);
  if (count === undefined) throw targetNotFound(target);
  return count;
}

/** One atomic write: a heart that is on does not match, and inserting a second one is a duplicate key. */
async function writeHeart(now: Date, memberNo: number, target: HeartTarget, id: number, articleId: number) {
  try {
    return await Heart.findOneAndUpdate(
      { target, id, memberNo, on: { $ne: true } },
      { $set: { articleId, on: true, at: now, pending: now }, $inc: { turn: 1 } },
      { upsert: true, returnDocument: 'after' },
    ).lean();
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError('ALREADY_HEARTED');
    throw error;
  }
}
