import { model, Schema } from 'mongoose';

export interface BookmarkRecord {
  articleId: number;
  memberNo: number;
  at: Date;
}

const schema = new Schema<BookmarkRecord>(
  {
    articleId: { type: Number, required: true },
    memberNo: { type: Number, required: true },
    at: { type: Date, required: true },
  },
  { versionKey: false, collection: 'bookmarks' },
);
// One bookmark per member and article; also finds a deleted article's.
schema.index({ articleId: 1, memberNo: 1 }, { unique: true });

export const Bookmark = model('Bookmark', schema);
