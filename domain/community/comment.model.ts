import { model, Schema } from 'mongoose';
import { readRecords } from '../platform/mongo/records.js';

/**
 * `live`: shown. `flagged`: deleted, but shown without its text because it has live replies. `gone`: deleted
 * and not shown.
 */
export type CommentState = 'live' | 'flagged' | 'gone';

export interface CommentRecord {
  /** Comment number; numbers rise, so a higher one is newer. Replies and comments share the sequence. */
  _id: number;
  articleId: number;
  /** The comment that a reply answers; 0 for a comment on the article. */
  parentId: number;
  authorNo: number;
  context: string;
  state: CommentState;
  publishedAt: Date;
  /** Stored count and its version: recount.ts. */
  hearts: number;
  heartsVersion: number;
  /** Version of the choice between `flagged` and `gone`, which follows the number of live replies. */
  repliesVersion: number;
  /** Start of a creation or deletion whose consequences are unfinished. */
  pending?: Date;
}

const schema = new Schema<CommentRecord>(
  {
    _id: Number,
    articleId: { type: Number, required: true },
    parentId: Number,
    authorNo: { type: Number, required: true },
    context: String,
    state: { type: String, enum: ['live', 'flagged', 'gone'], required: true },
    publishedAt: { type: Date, required: true },
    hearts: Number,
    heartsVersion: { type: Number, default: 0 },
    repliesVersion: { type: Number, default: 0 },
    pending: Date,
  },
  { versionKey: false, collection: 'comments' },
);
// An article's comments in order; their count reads the index only.
schema.index({ articleId: 1, state: 1, _id: 1 });
// Whether a comment has live replies.
schema.index({ parentId: 1, state: 1 });
// For the sweep; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Comment = model('Comment', schema);

/** The oldest live and flagged comments of an article, in order, bypassing mongoose. */
export function readShownComments(articleId: number, limit: number): Promise<CommentRecord[]> {
  return readRecords<CommentRecord>(
    Comment,
    { articleId, state: { $in: ['live', 'flagged'] } },
    { sort: { _id: 1 }, limit },
  );
}
