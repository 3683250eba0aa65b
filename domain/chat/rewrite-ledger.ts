import { isDeepStrictEqual } from 'node:util';
import { countUpTo, type LedgerEntry } from './audit-room.js';
import { Message } from './message.model.js';
import { other, type Position, Room, type RoomRecord, type Side, sideOf } from './room.model.js';

/** Records repaired in one write. */
const PAGE = 500;

type Entry = Pick<LedgerEntry, 'seq' | 'sent' | 'read'>;

/** The bookkeeping that follows from a room's messages, in the order of their numbers. */
function rightLedger(room: RoomRecord, entries: LedgerEntry[]) {
  const numbers = entries.map(({ seq }) => seq);
  const sentBy: Record<Side, number>[] = [];
  const sent: Record<Side, number> = { creator: 0, joiner: 0 };
  for (const { senderNo } of entries) {
    const sender = sideOf(room, senderNo);
    if (sender) sent[sender] += 1;
    sentBy.push({ ...sent });
  }

  /** A read position in the new numbers: after as many messages as before, at most `newest`. */
  function position({ seq }: Position, side: Side, newest: number): Position {
    const moved = Math.min(countUpTo(numbers, seq), newest);
    return { seq: moved, others: sentBy[moved - 1]?.[other(side)] ?? 0 };
  }

  const both = (read: Record<Side, Position>, newest: number) => ({
    creator: position(read.creator, 'creator', newest),
    joiner: position(read.joiner, 'joiner', newest),
  });
  const right = entries.map(
    ({ read }, i): Entry => ({
      seq: i + 1,
      sent: sentBy[i] as Record<Side, number>,
      read: both(read, i + 1),
    }),
  );
  return { right, read: both(room.read, entries.length) };
}

/**
 * Corrects the bookkeeping of a room from its messages: numbers 1, 2, 3 … in their order, running counts, and
 * read positions that leave unread what was unread.
 *
 * Each number moves down to one that is free by then, so the unique index holds throughout, and an
 * interrupted run is finished by the next. A running service caches the heads of rooms: stop it first, or
 * restart it afterwards (docs/decisions/import-and-verify.md).
 */
export async function rewriteLedger(chatNo: number): Promise<void> {
  const room = await Room.findById(chatNo).lean();
  if (!room) return;
  const entries: LedgerEntry[] = await Message.find({ chatNo }, { seq: 1, senderNo: 1, sent: 1, read: 1 })
    .sort({ seq: 1 })
    .lean();
  const { right, read } = rightLedger(room, entries);
  const changed = entries.flatMap(({ _id, seq, sent, read }, i) => {
    const wanted = right[i] as Entry;
    if (isDeepStrictEqual({ seq, sent, read }, wanted)) return [];
    return { updateOne: { filter: { _id }, update: { $set: wanted } } };
  });
  for (let from = 0; from < changed.length; from += PAGE) {
    await Message.bulkWrite(changed.slice(from, from + PAGE));
  }
  if (!isDeepStrictEqual(room.read, read)) await Room.updateOne({ _id: chatNo }, { $set: { read } });
}
