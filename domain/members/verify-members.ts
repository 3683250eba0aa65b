import type { Check } from '../kernel/verification.js';
import { checkSequence } from '../platform/sequence.model.js';
import { Member } from './member.model.js';

/** The area's checks: member numbers. */
export function checkMembers(): Check[] {
  return [
    checkSequence('member', async () => {
      const last = await Member.findOne({}, { _id: 1 }).sort({ _id: -1 }).lean();
      return last?._id ?? 0;
    }),
  ];
}
