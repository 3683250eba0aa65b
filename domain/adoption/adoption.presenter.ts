import type { AdoptionPostRecord } from './adoption-post.model.js';

/** The documented adoption render record. */
export interface RenderRecord {
  id: number;
  name: string;
  age: string;
  kind: string;
  latitude: number;
  longitude: number;
  thumbnail: string;
  modal: boolean;
}

/** The fields of a post that the list reads. */
export type RenderedPost = Pick<
  AdoptionPostRecord,
  '_id' | 'name' | 'age' | 'kind' | 'latitude' | 'longitude' | 'thumbnail' | 'modal'
>;

export function presentRenderRecord(post: RenderedPost): RenderRecord {
  const { _id, name, age, kind, latitude, longitude, thumbnail, modal } = post;
  return { id: _id, name, age, kind, latitude, longitude, thumbnail, modal };
}
