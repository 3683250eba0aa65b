import { AppError } from '../kernel/errors.js';
import { type Side, sideOf } from './room.model.js';

/**
 * Only its two participants may see or touch a room.
 * @returns the member's side
 * @throws AppError FORBIDDEN
 */
export function requireParticipant(room: { creator: number; joiner: number }, memberNo: number): Side {
  const side = sideOf(room, memberNo);
  if (!side) throw new AppError('FORBIDDEN', 'only the participants of this chat room may do that');
  return side;
}
