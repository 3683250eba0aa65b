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
}

const schema = new Schema<AdoptionPostRecord>(
  {
    _id: Number,
    authorNo: { type: Number, required: true },
    title: { type: String, required: true },
    name: { type: String, required: true },
    age: { type: String, default: '' },
    kind: { type: String, default: '' },
    latitude: { type: Number, required: true },
    longitude: { type: Number, required: true },
    thumbnail: { type: String, default: '' },
    modal: { type: Boolean, default: false },
    createdAt: { type: Date, required: true },
  },
  { versionKey: false, collection: 'adoptionPosts' },
);

export const AdoptionPost = model('AdoptionPost', schema);
