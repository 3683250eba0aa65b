import { model, Schema } from 'mongoose';
import { aggregateRecords, changeRecord, readRecords } from '../platform/mongo/records.js';

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
  /** Empty for none. */
  thumbnail: string;
  state: 'live' | 'deleted';
  publishedAt: Date;
  views: number;
  /** Stored counts and their versions: recount.ts. */
  hearts: number;
  heartsVersion: number;
  comments: number;
  commentsVersion: number;
  /** Start of a deletion that has not removed all hearts and bookmarks yet. */
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
// Both orders of the list, of all articles and of a category: every page is an index range.
schema.index({ state: 1, _id: -1 });
schema.index({ state: 1, categoryId: 1, _id: -1 });
schema.index({ state: 1, hearts: -1, views: -1, _id: -1 });
schema.index({ state: 1, categoryId: 1, hearts: -1, views: -1, _id: -1 });
// For the sweep; nearly always empty.
schema.index({ pending: 1 }, { partialFilterExpression: { pending: { $exists: true } } });

export const Article = model('Article', schema);

/** The fields of an article that lists read. */
const SUMMARY_FIELDS = {
  authorNo: 1,
  title: 1,
  context: 1,
  views: 1,
  comments: 1,
  hearts: 1,
  publishedAt: 1,
  thumbnail: 1,
} as const;
export type SummarisedArticle = Pick<ArticleRecord, '_id' | keyof typeof SUMMARY_FIELDS>;

/** Most recent first, or most hearts, then views, first. */
const ORDERS = { recent: { _id: -1 }, like: { hearts: -1, views: -1, _id: -1 } } as const;

export type ListOrder = keyof typeof ORDERS;

/**
 * Summaries of live articles, bypassing mongoose.
 * @param filter of the record's own types: nothing is cast
 */
export function readSummaries(
  filter: object,
  options: { order?: ListOrder; skip?: number; limit?: number } = {},
): Promise<SummarisedArticle[]> {
  const { order, ...range } = options;
  return readRecords<ArticleRecord>(
    Article,
    { state: 'live', ...filter },
    { projection: SUMMARY_FIELDS, ...(order ? { sort: ORDERS[order] } : {}), ...range },
  );
}

/** What use cases must know of a live article. */
export type LiveArticle = Pick<ArticleRecord, '_id' | 'authorNo' | 'comments'>;

/** Those of these articles that are live, bypassing mongoose. */
export function readLive(numbers: number[]): Promise<LiveArticle[]> {
  return readRecords<ArticleRecord>(
    Article,
    { _id: { $in: numbers }, state: 'live' },
    { projection: { authorNo: 1, comments: 1 } },
  );
}

/** Number of live articles with these fields, up to a limit; reads an index only. */
export function countLive(filter: object, limit: number): Promise<number> {
  return Article.countDocuments({ state: 'live', ...filter }, { limit });
}

/**
 * Those of a slice of the live articles that match, in order, bypassing mongoose.
 * @param filter of the list; an index serves it
 * @param matching checked for each article of the slice
 */
export function readLiveSlice(
  filter: object,
  { order, skip, limit }: { order: ListOrder; skip: number; limit: number },
  matching: object,
): Promise<LiveArticle[]> {
  return aggregateRecords<LiveArticle>(Article, [
    { $match: { state: 'live', ...filter } },
    { $sort: ORDERS[order] },
    { $skip: skip },
    { $limit: limit },
    { $match: matching },
    { $project: { authorNo: 1, comments: 1 } },
  ]);
}

/** Counts a view of a live article, bypassing mongoose. @returns the updated article, or null */
export function countView(articleId: number): Promise<ArticleRecord | null> {
  return changeRecord<ArticleRecord>(Article, { _id: articleId, state: 'live' }, { $inc: { views: 1 } });
}
