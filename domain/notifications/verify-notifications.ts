import { settled } from '../kernel/settle.js';
import type { Check, Finding } from '../kernel/verification.js';
import { checkSequence } from '../platform/sequence.model.js';
import { Notification } from './notification.model.js';

/** Findings told one at a time where there are no more than this; of a wreck the beginning is enough. */
const MAX_HOLES = 20;

/** Where the numbers of a member's notifications jump, one line each. */
async function holesOf(memberNo: number): Promise<string[]> {
  const holes: string[] = [];
  let last = 0;
  for await (const { n } of Notification.find({ memberNo }, { n: 1 }).sort({ n: 1 }).lean().cursor()) {
    if (n !== last + 1 && holes.length < MAX_HOLES) {
      holes.push(`notifications of member ${memberNo}: number ${n} follows ${last}`);
    }
    last = n;
  }
  return holes;
}

/**
 * Numbers a member's notifications 1, 2, 3 … again, in their order. Each moves down to a number that
 * is free by then, so the unique index holds at every moment and an interruption does no harm.
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
  async *run(looked): AsyncGenerator<Finding> {
    const suspects = new Set<number>();
    let memberNo = 0;
    let last = 0;
    const fields = { memberNo: 1, n: 1 };
    // In the order of an index: one pass over everything, and nothing to remember.
    for await (const record of Notification.find({}, fields).sort({ memberNo: 1, n: 1 }).lean().cursor()) {
      if (record.memberNo !== memberNo) last = 0;
      memberNo = record.memberNo;
      if (record.n !== last + 1) suspects.add(memberNo);
      last = record.n;
      looked(1);
    }
    for (const suspect of suspects) {
      const look = async () => new Map((await holesOf(suspect)).map((text) => [text, text]));
      const holes = await settled(await look(), look);
      for (const text of holes.values()) yield { text, mend: () => renumber(suspect) };
    }
  },
};

/** The checks of this area: each member's numbers rise from 1 without holes, and the sequence is ahead. */
export function checkNotifications(): Check[] {
  return [
    checkNumbers,
    checkSequence('notification', async () => {
      const last = await Notification.findOne({}).sort({ _id: -1 }).lean();
      return last?._id ?? 0;
    }),
  ];
}
