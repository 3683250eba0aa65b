import { settled } from '../kernel/settle.js';
import { type Check, type Checked, type Finding, PROGRESS_STEP } from '../kernel/verification.js';
import { checkSequence, highestNumber } from '../platform/sequence.model.js';
import { type LedgerEntry, RoomAudit, type RoomFault } from './audit-room.js';
import { Message } from './message.model.js';
import { rewriteLedger } from './rewrite-ledger.js';
import { Room, type RoomRecord } from './room.model.js';

const LEDGER_FIELDS = { chatNo: 1, seq: 1, senderNo: 1, sent: 1, read: 1 } as const;

/** Records per batch of a cursor; by default the driver fetches up to 16 MiB. */
const BATCH = 1_000;

/** Rooms with faults that are checked again together. */
const SUSPECTS_AT_ONCE = 100;

type Suspect = RoomFault & { chatNo: number; proof: string };
/** Faults by room and kind. */
type Suspects = Map<string, Suspect>;

type NumberedEntry = LedgerEntry & { chatNo: number };

function addSuspects(suspects: Suspects, chatNo: number, faults: RoomFault[]): void {
  for (const fault of faults)
    suspects.set(`${chatNo} ${fault.kind}`, { ...fault, chatNo, proof: fault.text });
}

/** Audits one room. It is read before its messages, which may then be newer, never older. */
async function auditRoom(chatNo: number): Promise<RoomFault[]> {
  const room = await Room.findById(chatNo).lean();
  if (!room) return [];
  const audit = new RoomAudit(room);
  const messages = Message.find({ chatNo }, LEDGER_FIELDS).sort({ seq: 1 }).batchSize(BATCH).lean().cursor();
  for await (const entry of messages) audit.add(entry);
  return audit.finish();
}

async function auditRooms(chatNos: Iterable<number>): Promise<Suspects> {
  const found: Suspects = new Map();
  for (const chatNo of chatNos) addSuspects(found, chatNo, await auditRoom(chatNo));
  return found;
}

/** The faults that a second audit confirms. */
async function* findings(suspects: Suspects): AsyncGenerator<Finding> {
  const chatNos = new Set([...suspects.values()].map(({ chatNo }) => chatNo));
  for (const { chatNo, kind, text, found, expected } of (
    await settled(suspects, () => auditRooms(chatNos))
  ).values()) {
    const finding: Finding = { area: 'chat', kind, record: `room ${chatNo}`, found, expected, text };
    // A wrong sender cannot be repaired: nothing else says who wrote a message.
    if (kind === 'message-sender') yield finding;
    else yield { ...finding, repair: () => rewriteLedger(chatNo), isStopNeeded: true };
  }
}

async function* orphans(chatNo: number, count: number): AsyncGenerator<Finding> {
  if (count === 0 || (await Room.exists({ _id: chatNo }))) return;
  yield {
    ...{ area: 'chat', kind: 'room-missing', record: `room ${chatNo}` },
    ...{ found: count, expected: 0 },
    text: `room ${chatNo}: does not exist, but has ${count} messages`,
  };
}

/** All messages in order, one at a time; reports each to `checked`. */
class Messages {
  readonly #cursor = Message.find({}, LEDGER_FIELDS)
    .sort({ chatNo: 1, seq: 1 })
    .batchSize(BATCH)
    .lean()
    .cursor();
  readonly #checked: Checked;
  #read = 0;
  /** The next one; undefined after the last. */
  next: NumberedEntry | undefined;

  constructor(checked: Checked) {
    this.#checked = checked;
  }

  async advance(): Promise<void> {
    this.next = (await this.#cursor.next()) ?? undefined;
    if (this.next) this.#read += 1;
    if (this.#read === PROGRESS_STEP || !this.next) await this.report();
  }

  async report(): Promise<void> {
    const read = this.#read;
    this.#read = 0;
    if (read > 0) await this.#checked(read);
  }

  close(): Promise<void> {
    return this.#cursor.close();
  }
}

/** Skips messages of rooms below this number: they belong to no room. */
async function* passBefore(messages: Messages, chatNo: number): AsyncGenerator<Finding> {
  while (messages.next && messages.next.chatNo < chatNo) {
    const lost = messages.next.chatNo;
    let count = 0;
    for (; messages.next?.chatNo === lost; await messages.advance()) count += 1;
    yield* orphans(lost, count);
  }
}

/** Audits all rooms in one pass over rooms and messages, both in the order of an index. */
async function* auditAll(checked: Checked): AsyncGenerator<Finding> {
  const messages = new Messages(checked);
  let suspects: Suspects = new Map();
  let rooms = 0;
  try {
    await messages.advance();
    const all: AsyncIterable<RoomRecord> = Room.find({}).sort({ _id: 1 }).batchSize(BATCH).lean().cursor();
    for await (const room of all) {
      yield* passBefore(messages, room._id);
      const audit = new RoomAudit(room);
      for (; messages.next?.chatNo === room._id; await messages.advance()) audit.add(messages.next);
      addSuspects(suspects, room._id, audit.finish());
      if (suspects.size >= SUSPECTS_AT_ONCE) {
        yield* findings(suspects);
        suspects = new Map();
      }
      rooms += 1;
      if (rooms % PROGRESS_STEP === 0) await checked(PROGRESS_STEP);
    }
    await checked(rooms % PROGRESS_STEP);
    yield* passBefore(messages, Number.POSITIVE_INFINITY);
    yield* findings(suspects);
  } finally {
    await messages.close();
  }
}

/** The checks of this area: each room's numbers, running counts, read positions and unread counts. */
export function checkChat(): Check[] {
  return [
    {
      size: async () => (await Room.estimatedDocumentCount()) + (await Message.estimatedDocumentCount()),
      run: auditAll,
    },
    checkSequence('chat', 'room', () => highestNumber(Room)),
  ];
}
