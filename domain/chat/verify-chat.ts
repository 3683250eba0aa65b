import { settled } from '../kernel/settle.js';
import { type Check, type Checked, type Finding, PROGRESS_STEP } from '../kernel/verification.js';
import { readNumbered } from '../platform/mongo/numbered-records.js';
import { checkSequence, highestNumber } from '../platform/mongo/sequence.model.js';
import { type LedgerEntry, RoomAudit, type RoomFault } from './audit-room.js';
import { Message, messageNumbers } from './message.model.js';
import { rewriteLedger } from './rewrite-ledger.js';
import { Room, type RoomRecord } from './room.model.js';

const LEDGER_FIELDS = ['senderNo', 'sent', 'read'] as const;

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
async function auditRoom(chatNo: number, checked: Checked): Promise<RoomFault[]> {
  const room = await Room.findById(chatNo).lean();
  if (!room) return [];
  const audit = new RoomAudit(room);
  const checkedAgain = (count: number) => checked(count, true);
  const messages = readNumbered<NumberedEntry>(messageNumbers, LEDGER_FIELDS, checkedAgain, chatNo);
  for await (const entry of messages) audit.add(entry);
  return audit.finish();
}

async function auditRooms(chatNos: Iterable<number>, checked: Checked): Promise<Suspects> {
  const found: Suspects = new Map();
  for (const chatNo of chatNos) addSuspects(found, chatNo, await auditRoom(chatNo, checked));
  return found;
}

/** The faults that a second audit confirms. */
async function* findings(suspects: Suspects, checked: Checked): AsyncGenerator<Finding> {
  const chatNos = new Set([...suspects.values()].map(({ chatNo }) => chatNo));
  for (const { chatNo, kind, text, found, expected } of (
    await settled(suspects, () => auditRooms(chatNos, checked))
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

/** All messages in order, one at a time. */
class Messages {
  readonly #all: AsyncGenerator<NumberedEntry>;
  /** The next one; undefined after the last. */
  next: NumberedEntry | undefined;

  constructor(checked: Checked) {
    this.#all = readNumbered(messageNumbers, LEDGER_FIELDS, checked);
  }

  async advance(): Promise<void> {
    const { value } = await this.#all.next();
    this.next = value;
  }
}

/** All rooms in order. As with messages, no cursor waits for the reader. */
async function* readRooms(checked: Checked): AsyncGenerator<RoomRecord> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const page = await Room.find({ _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(PROGRESS_STEP)
      .lean();
    const last = page.at(-1);
    if (!last) return;
    yield* page;
    after = last._id;
    await checked(page.length);
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
  await messages.advance();
  for await (const room of readRooms(checked)) {
    yield* passBefore(messages, room._id);
    const audit = new RoomAudit(room);
    for (; messages.next?.chatNo === room._id; await messages.advance()) audit.add(messages.next);
    addSuspects(suspects, room._id, audit.finish());
    if (suspects.size >= SUSPECTS_AT_ONCE) {
      yield* findings(suspects, checked);
      suspects = new Map();
    }
  }
  yield* passBefore(messages, Number.POSITIVE_INFINITY);
  yield* findings(suspects, checked);
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
