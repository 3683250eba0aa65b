import { model, Schema } from 'mongoose';
import { AppError } from '../kernel/errors.js';

/** The two parties: the author of the adoption post (creator), and the member who asked about it (joiner). */
export type Side = 'creator' | 'joiner';

export const BOTH_SIDES: readonly Side[] = ['creator', 'joiner'];

export const other = (side: Side): Side => (side === 'creator' ? 'joiner' : 'creator');

/** The side of the room that a member is on, if on any. */
export function sideOf(room: Record<Side, number>, memberNo: number): Side | undefined {
  return BOTH_SIDES.find((side) => room[side] === memberNo);
}

/**
 * Only its two participants may see or change a room.
 * @returns the member's side
 * @throws AppError FORBIDDEN
 */
export function requireParticipant(room: Record<Side, number>, memberNo: number): Side {
  const side = sideOf(room, memberNo);
  if (!side) throw new AppError('FORBIDDEN', 'only the participants of this chat room may do that');
  return side;
}

/**
 * How far a participant has read: every message up to `seq`, of which `others` are the other party's. Both only
 * rise, and `others` follows from `seq`, so of two positions the larger is taken field by field.
 */
export interface Position {
  seq: number;
  others: number;
}

export interface RoomRecord {
  /** Chat room number. */
  _id: number;
  saleNo: number;
  /** Member number of the author of the adoption post. */
  creator: number;
  joiner: number;
  createdAt: Date;
  /** Of its creation, as in messages. */
  activity?: number;
  read: Record<Side, Position>;
}

const position = { seq: { type: Number, default: 0 }, others: { type: Number, default: 0 } };

const schema = new Schema<RoomRecord>(
  {
    _id: Number,
    saleNo: { type: Number, required: true },
    creator: { type: Number, required: true },
    joiner: { type: Number, required: true },
    createdAt: { type: Date, required: true },
    activity: Number,
    read: { creator: position, joiner: position },
  },
  { versionKey: false, collection: 'rooms' },
);
// One room per pair and sale, also when both open it at the same instant.
schema.index({ saleNo: 1, creator: 1, joiner: 1 }, { unique: true });
schema.index({ creator: 1, saleNo: 1 });
schema.index({ joiner: 1, saleNo: 1 });

export const Room = model('Room', schema);
