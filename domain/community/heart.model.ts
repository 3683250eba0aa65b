import { model, Schema, type Types } from 'mongoose';

export type HeartTarget = 'article' | 'comment';

export interface HeartRecord {
  target: HeartTarget;
  /** Number of the article or comment. */
  id: number;
  memberNo: number;
  /** The article that the target is or belongs to: a deleted article's hearts are removed by it. */
  articleId: number;
  /** False once removed, until the count is updated; then the record is deleted. */
  on: boolean;
  /** When it was given. */
  at: Date;
  /** Number of the change, so that finishing one does not clear the mark of a later one. */
  turn: number;
  /** Start of a change whose count and events are unfinished. */
  pending?: Date;
}

/** A record as read. */
export type StoredHeart = HeartRecord & { _id: Types.ObjectId };

const schema = new Schema<HeartRecord>(
  {
    target: String,
    id: Number,
    memberNo: Number,
    articleId: Number,
    on: Boolean,
    at: Date,
    turn: Number,
    pending: Date,
  },
  // Without mongoose's virtual `id`, which would hide the field.
  { id: false, versionKey: false, collection: 'hearts' },
);
// One heart per member and target, under any concurrency (fault 31).
schema.index({ target: 1, id: 1, memberNo: 1 }, { unique: true });
// A target's count, overall or in a window, and the counts of a window, from the index only.
schema.index({ target: 1, id: 1, on: 1, at: 1 });
schema.index({ target: 1, on: 1, at: 1, id: 1 });
schema.index({ articleId: 1 });
// For the sweep; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Heart = model('Heart', schema);
