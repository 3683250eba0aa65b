import type { Check } from '../kernel/verification.js';
import { checkSequence } from '../platform/sequence.model.js';
import { AdoptionPost } from './adoption-post.model.js';

/** The area's checks: post numbers. */
export function checkAdoption(): Check[] {
  return [
    checkSequence('adoption', async () => {
      const last = await AdoptionPost.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
      return last?._id ?? 0;
    }),
  ];
}
