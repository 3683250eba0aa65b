import { isDeepStrictEqual } from 'node:util';
import { raiseNumbers } from '../platform/mongo/numbered-records.js';
import type { LedgerEntry } from './audit-room.js';
import { Message, messageNumbers, readMessages } from './message.model.js';
import { other, type Position, Room, type RoomRecord, type Side, sideOf } from './room.model.js';
import { SentCounts } from './sent-counts.js';

/** Records read, and repaired in one write. */
const PAGE = 500;

/** A read position in the new numbers: after as many messages as before. */
function renumbered(counts: SentCounts, { seq }: Position, side: Side): Position {
  const moved = counts.countUpTo(seq);
  return { seq: moved, others: counts.first(moved)[other(side)] };
}

const bothRenumbered = (counts: SentCounts, read: Record<Side, Position>) => ({
  creator: renumbered(counts, read.creator, 'creator'),
  joiner: renumbered(counts, read.joiner, 'joiner'),
});

/**
 * Changes the messages of a room that are not as `wanted` says, oldest first.
 *
 * @param wanted the fields of a message, as of the messages up to it
 * @returns the counts of all messages, by the numbers they had
 */
async function rewriteMessages(
  room: RoomRecord,
  wanted: (message: LedgerEntry, counts: SentCounts) => Partial<LedgerEntry>,
): Promise<SentCounts> {
  const counts = new SentCounts();
  for (;;) {
    // What has moved down is not read again.
    const page: LedgerEntry[] = await readMessages(room._id, 'oldest', { after: counts.newest, limit: PAGE });
    const changes = page.flatMap((message) => {
      counts.add(message.seq, sideOf(room, message.senderNo));
      const fields = wanted(message, counts);
      if (isDeepStrictEqual({ ...message, ...fields }, message)) return [];
      return { updateOne: { filter: { _id: message._id }, update: { $set: fields } } };
    });
    if (changes.length > 0) await Message.bulkWrite(changes);
    if (page.length < PAGE) return counts;
  }
}

/**
 * Corrects the bookkeeping of a room from its messages: numbers 1, 2, 3 … in their order, running counts, and
 * read positions that leave unread what was unread.
 *
 * All numbers are raised first if some are below 1. Then each moves down to one that is already free: the unique index
 * holds throughout, and the next run finishes an interrupted one. Until then messages may count as unread again, but none
 * as read. A running service caches the heads of rooms: stop it first, or
 * restart it afterwards (docs/decisions/import-and-verify.md).
 */
export async function rewriteLedger(chatNo: number): Promise<void> {
  const by = await raiseNumbers(messageNumbers, chatNo);
  // Positions go up after the numbers that they are compared with, and down before them: one too high would hide unread
  // messages.
  if (by > 0) {
    const raised = { $inc: { 'read.creator.seq': by, 'read.joiner.seq': by } };
    await Message.updateMany({ chatNo }, raised);
    await Room.updateOne({ _id: chatNo }, raised);
  }
  const room = await Room.findById(chatNo).lean();
  if (!room) return;
  const counts = await rewriteMessages(room, ({ read }, upTo) => ({ read: bothRenumbered(upTo, read) }));
  const read = bothRenumbered(counts, room.read);
  if (!isDeepStrictEqual(room.read, read)) await Room.updateOne({ _id: chatNo }, { $set: { read } });
  await rewriteMessages(room, (_, { all: { count, creator, joiner } }) => ({
    seq: count,
    sent: { creator, joiner },
  }));
}
