import { model, Schema } from 'mongoose';

export interface AdoptionPostRecord {
  /** Post number: the `saleNo` of chat rooms. */
  _id: number;
  authorNo: number;
  title: string;
  /** The animal's name. */
  name: string;
  /** Free text. */
  age: string;
  kind: string;
  /** Degrees, WGS 84. */
  latitude: number;
  longitude: number;
  thumbnail: string;
  modal: boolean;
  createdAt: Date;
  /** Identifies a post imported without a number (import-posts.ts). */
  importKey?: string;
}

const schema = new Schema<AdoptionPostRecord>(
  {
    _id: Number,
    authorNo: Number,
    title: String,
    name: String,
    age: String,
    kind: String,
    latitude: Number,
    longitude: Number,
    thumbnail: String,
    modal: Boolean,
    createdAt: Date,
    importKey: String,
  },
  { versionKey: false, collection: 'adoptionPosts' },
);
// One post per imported row, however often it is imported.
schema.index({ importKey: 1 }, { unique: true, partialFilterExpression: { importKey: { $exists: true } } });

export const AdoptionPost = model('AdoptionPost', schema);
