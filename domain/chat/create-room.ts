import type { Actor } from '../kernel/actor.js';
import { AppError } from '../kernel/errors.js';
import { nextActivity } from '../platform/mongo/data-clock.js';
import { isDuplicateKey } from '../platform/mongo/errors.js';
import { nextNumbers } from '../platform/mongo/sequence.model.js';
import type { ChatDeps } from './chat-deps.js';
import { BOTH_SIDES, Room } from './room.model.js';

/**
 * Opens the room of two members about an adoption post, or finds the one they have. The author of the post is
 * always the creator, the other one the joiner. (legacy; contract, section 4)
 *
 * @param input.createMember the author or the caller; the other party is the other one of the two
 * @returns the room's number
 * @throws AppError SALE_NOT_FOUND; INVALID_INPUT naming createMember; QUOTA_EXCEEDED for one more new room
 */
export async function createRoom(
  { adoption, clock, changes, quotas }: ChatDeps,
  actor: Actor,
  input: { saleNo: number; createMember: number },
): Promise<number> {
  const sale = await adoption.findPost(input.saleNo);
  if (!sale) throw new AppError('SALE_NOT_FOUND', `saleNo: adoption post ${input.saleNo} does not exist`);
  if (input.createMember !== sale.authorNo && input.createMember !== actor.no) {
    throw new AppError(
      'INVALID_INPUT',
      'createMember: must be the author of the adoption post or the caller',
    );
  }
  if (actor.no === sale.authorNo) {
    throw new AppError('INVALID_INPUT', 'createMember: a chat needs two members, not the author alone');
  }
  const pair = { saleNo: sale.no, creator: sale.authorNo, joiner: actor.no };
  const existing = await Room.findOne(pair, { _id: 1 }).lean();
  if (existing) return existing._id;
  const giveBack = await quotas.take('rooms', actor.no);
  let chatNo: number;
  try {
    chatNo = await nextNumbers('room');
    const createdAt = new Date(clock.now());
    await Room.create({ _id: chatNo, ...pair, createdAt, activity: nextActivity() });
  } catch (error) {
    giveBack();
    if (!isDuplicateKey(error)) throw error;
    // Opened by a concurrent call.
    const first = await Room.findOne(pair, { _id: 1 }).lean();
    if (!first) throw error;
    return first._id;
  }
  changes.touch(chatNo, BOTH_SIDES);
  return chatNo;
}
