import { model, Schema } from 'mongoose';

/** The two parties: the author of the adoption post, and who asked about it. */
export type Side = 'creator' | 'joiner';

export const BOTH_SIDES: readonly Side[] = ['creator', 'joiner'];

export const other = (side: Side): Side => (side === 'creator' ? 'joiner' : 'creator');

/** The side of the room that a member is on; undefined for a member who is on neither. */
export function sideOf(room: Record<Side, number>, memberNo: number): Side | undefined {
  return BOTH_SIDES.find((side) => room[side] === memberNo);
}

/**
 * How far a participant has read: every message up to `seq`, of which `others` came from the other
 * party. Both only ever rise, and `others` is a function of `seq`, so the larger of two positions is
 * taken field by field.
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
    read: { creator: position, joiner: position },
  },
  { versionKey: false, collection: 'rooms' },
);
// One room for a pair and a sale, also when both open it at the same instant.
schema.index({ saleNo: 1, creator: 1, joiner: 1 }, { unique: true });
schema.index({ creator: 1, saleNo: 1 });
schema.index({ joiner: 1, saleNo: 1 });

export const Room = model('Room', schema);
