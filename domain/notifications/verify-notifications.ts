import { settled } from '../kernel/settle.js';
import type { Check, Finding } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/sequence.model.js';
import { Notification } from './notification.model.js';

/** Most gaps reported for one member. */
const MAX_GAPS = 20;

/** The gaps in a member's numbers, one line each. */
async function gapsOf(memberNo: number): Promise<string[]> {
  const gaps: string[] = [];
  let last = 0;
  for await (const { n } of Notification.find({ memberNo }, { n: 1 }).sort({ n: 1 }).lean().cursor()) {
    if (n !== last + 1 && gaps.length < MAX_GAPS) {
      gaps.push(`notifications of member ${memberNo}: number ${n} follows ${last}`);
    }
    last = n;
  }
  return gaps;
}

/**
 * Renumbers a member's notifications 1, 2, 3 … in their order. Each number moves down to one that is free by
 * then, so the unique index holds throughout, and an interrupted run can be repeated.
 */
async function renumber(memberNo: number): Promise<void> {
  const records = await Notification.find({ memberNo }, { n: 1 }).sort({ n: 1 }).lean();
  const moves = records.flatMap(({ _id, n }, i) =>
    n === i + 1 ? [] : [{ updateOne: { filter: { _id }, update: { $set: { n: i + 1 } } } }],
  );
  await Notification.bulkWrite(moves, { ordered: true });
}

const checkNumbers: Check = {
  size: () => Notification.countDocuments({}),
  async *run(checked): AsyncGenerator<Finding> {
    const suspects = new Set<number>();
    let memberNo = 0;
    let last = 0;
    const fields = { memberNo: 1, n: 1 };
    // One pass in the order of an index.
    for await (const record of Notification.find({}, fields).sort({ memberNo: 1, n: 1 }).lean().cursor()) {
      if (record.memberNo !== memberNo) last = 0;
      memberNo = record.memberNo;
      if (record.n !== last + 1) suspects.add(memberNo);
      last = record.n;
      checked(1);
    }
    for (const suspect of suspects) {
      const findGaps = async () => new Map((await gapsOf(suspect)).map((text) => [text, text]));
      const gaps = await settled(await findGaps(), findGaps);
      for (const text of gaps.values()) yield { text, repair: () => renumber(suspect) };
    }
  },
};

/** The checks of this area: each member's numbers rise from 1 without gaps, and the sequence is ahead. */
export function checkNotifications(): Check[] {
  return [checkNumbers, checkSequence('notification', () => highestNumber(Notification))];
}
