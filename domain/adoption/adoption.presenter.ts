import { shownImage } from '../kernel/image-address.js';
import type { AdoptionPostRecord } from './adoption-post.model.js';

/** The documented adoption render record. */
export interface RenderRecord
  extends Pick<
    AdoptionPostRecord,
    'name' | 'age' | 'kind' | 'latitude' | 'longitude' | 'thumbnail' | 'modal'
  > {
  id: number;
}

export function presentRenderRecord(post: Omit<RenderRecord, 'id'> & { _id: number }): RenderRecord {
  const { _id, name, age, kind, latitude, longitude, thumbnail, modal } = post;
  return { id: _id, name, age, kind, latitude, longitude, thumbnail: shownImage(thumbnail), modal };
}
