import { settled } from '../kernel/settle.js';
import type { Check, Finding } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/sequence.model.js';
import { type LedgerEntry, RoomAudit, type RoomFault } from './audit-room.js';
import { Message } from './message.model.js';
import { rewriteLedger } from './rewrite-ledger.js';
import { Room, type RoomRecord } from './room.model.js';

const LEDGER_FIELDS = { chatNo: 1, seq: 1, senderNo: 1, sent: 1, read: 1 } as const;

/** Audits one room. It is read before its messages, which may then be newer, never older. */
async function auditRoom(chatNo: number): Promise<RoomFault[]> {
  const room = await Room.findById(chatNo).lean();
  if (!room) return [];
  const audit = new RoomAudit(room);
  const messages = Message.find({ chatNo }, LEDGER_FIELDS).sort({ seq: 1 }).lean().cursor();
  for await (const entry of messages) audit.add(entry);
  return audit.finish();
}

/** The faults of a room that a second check confirms. */
async function* findings(chatNo: number, faults: RoomFault[]): AsyncGenerator<Finding> {
  const byKind = (list: RoomFault[]) => new Map(list.map(({ kind, text }) => [kind, text]));
  const confirmed = await settled(byKind(faults), async () => byKind(await auditRoom(chatNo)));
  for (const [kind, text] of confirmed) {
    // A wrong sender cannot be repaired: nothing else says who wrote a message.
    yield kind === 'sender' ? { text } : { text, repair: () => rewriteLedger(chatNo) };
  }
}

async function* orphans(chatNo: number, count: number): AsyncGenerator<Finding> {
  if (count === 0 || (await Room.exists({ _id: chatNo }))) return;
  yield { text: `room ${chatNo}: does not exist, but has ${count} messages` };
}

/** Audits all rooms in one pass over rooms and messages, both in the order of an index. */
async function* auditAll(checked: (count: number) => void): AsyncGenerator<Finding> {
  const messages = Message.find({}, LEDGER_FIELDS).sort({ chatNo: 1, seq: 1 }).lean().cursor();
  const stream = messages[Symbol.asyncIterator]();
  const next = async (): Promise<(LedgerEntry & { chatNo: number }) | undefined> => {
    const { value, done } = await stream.next();
    return done ? undefined : value;
  };
  try {
    let message = await next();
    /** Skips messages of lower room numbers: they belong to no room. */
    async function* passBefore(chatNo: number): AsyncGenerator<Finding> {
      while (message && message.chatNo < chatNo) {
        const lost = message.chatNo;
        let count = 0;
        for (; message?.chatNo === lost; message = await next()) count += 1;
        checked(count);
        yield* orphans(lost, count);
      }
    }
    const rooms: AsyncIterable<RoomRecord> = Room.find({}).sort({ _id: 1 }).lean().cursor();
    for await (const room of rooms) {
      yield* passBefore(room._id);
      const audit = new RoomAudit(room);
      let count = 0;
      for (; message?.chatNo === room._id; message = await next()) {
        audit.add(message);
        count += 1;
      }
      checked(count + 1);
      yield* findings(room._id, audit.finish());
    }
    yield* passBefore(Number.POSITIVE_INFINITY);
  } finally {
    await messages.close();
  }
}

/** The checks of this area: each room's numbers, running counts, read positions and unread counts. */
export function checkChat(): Check[] {
  return [
    {
      size: async () => (await Room.countDocuments({})) + (await Message.countDocuments({})),
      run: auditAll,
    },
    checkSequence('room', () => highestNumber(Room)),
  ];
}
