import { settled } from '../kernel/settle.js';
import type { Check, Checked, Finding } from '../kernel/verification.js';
import { type Numbering, raiseNumbers, readNumbered } from '../platform/mongo/numbered-records.js';
import { checkSequence, highestNumber } from '../platform/mongo/sequence.model.js';
import { Notification, type NotificationRecord } from './notification.model.js';

/** Most gaps reported for one member. */
const MAX_GAPS = 20;

/** Members with gaps that are checked again together. */
const SUSPECTS_AT_ONCE = 100;

/** Records changed in one write. */
const BATCH = 1_000;

const numbering: Numbering = { model: Notification, owner: 'memberNo', number: 'n' };

type Numbered = Pick<NotificationRecord, 'memberNo' | 'n'>;

/** A number that does not follow the one before. */
interface Gap {
  memberNo: number;
  n: number;
  last: number;
  proof: string;
}

async function addGaps(gaps: Map<string, Gap>, memberNo: number, checked: Checked): Promise<void> {
  let [last, count] = [0, 0];
  const checkedAgain = (read: number) => checked(read, true);
  for await (const { n } of readNumbered<Numbered>(numbering, [], checkedAgain, memberNo)) {
    if (n !== last + 1 && ++count <= MAX_GAPS) {
      const proof = `notifications of member ${memberNo}: number ${n} follows ${last}`;
      gaps.set(proof, { memberNo, n, last, proof });
    }
    last = n;
  }
}

async function gapsOf(memberNos: Iterable<number>, checked: Checked): Promise<Map<string, Gap>> {
  const gaps = new Map<string, Gap>();
  for (const memberNo of memberNos) await addGaps(gaps, memberNo, checked);
  return gaps;
}

/**
 * Renumbers a member's notifications 1, 2, 3 … in their order. All numbers are raised first if some are below 1. Then each
 * moves down to one that is already free: the unique index holds throughout, and an interrupted run can be repeated.
 */
async function renumber(memberNo: number): Promise<void> {
  await raiseNumbers(numbering, memberNo);
  let [count, last] = [0, 0];
  for (;;) {
    // What has moved down is not read again.
    const page = await Notification.find({ memberNo, n: { $gt: last } }, { n: 1 })
      .sort({ n: 1 })
      .limit(BATCH)
      .lean();
    const moves = page.flatMap(({ _id, n }) => {
      count += 1;
      return n === count ? [] : [{ updateOne: { filter: { _id }, update: { $set: { n: count } } } }];
    });
    if (moves.length > 0) await Notification.bulkWrite(moves, { ordered: true });
    last = page.at(-1)?.n ?? last;
    if (page.length < BATCH) return;
  }
}

/** The gaps of members that a second look confirms. */
async function* findings(memberNos: ReadonlySet<number>, checked: Checked): AsyncGenerator<Finding> {
  const look = () => gapsOf(memberNos, checked);
  const gaps = await settled(await look(), look);
  for (const { memberNo, n, last, proof } of gaps.values()) {
    yield {
      ...{
        area: 'notifications',
        kind: 'notification-number',
        record: `notifications of member ${memberNo}`,
      },
      ...{ found: n, expected: last + 1 },
      text: proof,
      repair: () => renumber(memberNo),
      isStopNeeded: true,
    };
  }
}

/** Reads all numbers in one pass, in the order of an index. */
async function* checkNumbers(checked: Checked): AsyncGenerator<Finding> {
  const suspects = new Set<number>();
  let [memberNo, last] = [0, 0];
  for await (const record of readNumbered<Numbered>(numbering, [], checked)) {
    if (record.memberNo !== memberNo) {
      last = 0;
      if (suspects.size >= SUSPECTS_AT_ONCE) {
        yield* findings(suspects, checked);
        suspects.clear();
      }
    }
    memberNo = record.memberNo;
    if (record.n !== last + 1) suspects.add(memberNo);
    last = record.n;
  }
  yield* findings(suspects, checked);
}

/** The checks of this area: each member's numbers rise from 1 without gaps, and the sequence is ahead. */
export function checkNotifications(): Check[] {
  return [
    { size: () => Notification.estimatedDocumentCount(), run: checkNumbers },
    checkSequence('notifications', 'notification', () => highestNumber(Notification)),
  ];
}
