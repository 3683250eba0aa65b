import { model, Schema, type Types } from 'mongoose';

export type HeartTarget = 'article' | 'comment';

export interface HeartRecord {
  target: HeartTarget;
  /** Number of the article or comment. */
  id: number;
  memberNo: number;
  /** The article the target is or belongs to: what a deleted article's hearts are removed by. */
  articleId: number;
  /** False once taken back, until the count has followed; then the record goes. */
  on: boolean;
  /** When it was given. */
  at: Date;
  /** Counts gives and takes, so that who finishes one never clears the mark of a later one. */
  turn: number;
  /** Since when a give or take is under way whose count and announcement are not done yet. */
  pending?: Date;
}

/** A record as it is read back. */
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
  // The interface calls the target's number `id`; mongoose's virtual of that name would hide it.
  { id: false, versionKey: false, collection: 'hearts' },
);
// One heart per member and target, whatever happens at once (fault 31).
schema.index({ target: 1, id: 1, memberNo: 1 }, { unique: true });
// One target's count, of all time or of a window, and the tally of a window, from the index alone.
schema.index({ target: 1, id: 1, on: 1, at: 1 });
schema.index({ target: 1, on: 1, at: 1, id: 1 });
schema.index({ articleId: 1 });
// What the sweep looks for; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Heart = model('Heart', schema);
