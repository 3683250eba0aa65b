import type { Clock } from '../kernel/clock.js';
import { nextNumbers, reserveNumbers } from '../platform/mongo/sequence.model.js';
import { AdoptionPost } from './adoption-post.model.js';

/** A validated adoption post. */
export interface AdoptionPostDraft {
  /** Number of the member who offers the animal. */
  authorNo: number;
  title: string;
  /** The animal's name. */
  name: string;
  age: string;
  kind: string;
  /** Degrees, -90 to 90. */
  latitude: number;
  /** Degrees, -180 to 180. */
  longitude: number;
  thumbnail: string;
  modal?: boolean;
}

/**
 * Stores a post under its number or the next one. Storing a number again replaces the fields and keeps the
 * creation time, so an import may be repeated.
 *
 * @returns the post's number
 */
export async function savePost(
  clock: Clock,
  { id, ...draft }: AdoptionPostDraft & { id?: number | undefined },
): Promise<number> {
  const { authorNo, title, name, age, kind, latitude, longitude, thumbnail, modal = false } = draft;
  const fields = { authorNo, title, name, age, kind, latitude, longitude, thumbnail, modal };
  // Reserved before use: concurrently created posts do not get the same number.
  if (id !== undefined) await reserveNumbers('adoption', [id]);
  const no = id ?? (await nextNumbers('adoption'));
  await AdoptionPost.updateOne(
    { _id: no },
    { $set: fields, $setOnInsert: { createdAt: new Date(clock.now()) } },
    { upsert: true },
  );
  return no;
}
