import { model, Schema } from 'mongoose';

/**
 * `live`: shown. `flagged`: deleted, shown without its text because live replies hang on it.
 * `gone`: deleted and not shown.
 */
export type CommentState = 'live' | 'flagged' | 'gone';

export interface CommentRecord {
  /** Comment number; numbers rise, so a higher one is newer. Replies are numbered with comments. */
  _id: number;
  articleId: number;
  /** The comment a reply answers; 0 for a comment on the article itself. */
  parentId: number;
  authorNo: number;
  context: string;
  state: CommentState;
  publishedAt: Date;
  /** Stored counts are recounts of the records under compare-and-set; see recount.ts. */
  hearts: number;
  heartsVersion: number;
  /** Guards the step between `flagged` and `gone`, which follows the number of live replies. */
  repliesVersion: number;
  /** Since when a creation or deletion is under way whose consequences are not all done yet. */
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
// An article's comments in order, and their number from the index alone.
schema.index({ articleId: 1, state: 1, _id: 1 });
// Whether a comment has live replies.
schema.index({ parentId: 1, state: 1 });
// What the sweep looks for; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Comment = model('Comment', schema);
