import { model, Schema } from 'mongoose';

export interface ArticleImage {
  no: number;
  url: string;
}

export interface ArticleRecord {
  /** Article number; numbers rise, so a higher one is newer. */
  _id: number;
  authorNo: number;
  categoryId: number;
  title: string;
  context: string;
  images: ArticleImage[];
  /** Empty where there is none. */
  thumbnail: string;
  state: 'live' | 'deleted';
  publishedAt: Date;
  views: number;
  /** Stored counts are recounts of the records under compare-and-set; see recount.ts. */
  hearts: number;
  heartsVersion: number;
  comments: number;
  commentsVersion: number;
  /** Since when a deletion is under way whose hearts and bookmarks are not all gone yet. */
  pending?: Date;
}

const schema = new Schema<ArticleRecord>(
  {
    _id: Number,
    authorNo: { type: Number, required: true },
    categoryId: { type: Number, required: true },
    title: { type: String, required: true },
    context: { type: String, required: true },
    images: [new Schema<ArticleImage>({ no: Number, url: String }, { _id: false })],
    thumbnail: String,
    state: { type: String, enum: ['live', 'deleted'], required: true },
    publishedAt: { type: Date, required: true },
    views: { type: Number, default: 0 },
    hearts: { type: Number, default: 0 },
    heartsVersion: { type: Number, default: 0 },
    comments: { type: Number, default: 0 },
    commentsVersion: { type: Number, default: 0 },
    pending: Date,
  },
  { versionKey: false, collection: 'articles' },
);
// The two orders of the list, each over everything and within a category: every page is a range.
schema.index({ state: 1, _id: -1 });
schema.index({ state: 1, categoryId: 1, _id: -1 });
schema.index({ state: 1, hearts: -1, views: -1, _id: -1 });
schema.index({ state: 1, categoryId: 1, hearts: -1, views: -1, _id: -1 });
// Search by author.
schema.index({ state: 1, authorNo: 1, _id: -1 });
// What the sweep looks for; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Article = model('Article', schema);
