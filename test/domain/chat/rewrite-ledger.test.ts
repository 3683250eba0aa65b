import { expect } from 'chai';
import fc from 'fast-check';
import { RoomAudit } from '../../../domain/chat/audit-room.js';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import { rewriteLedger } from '../../../domain/chat/rewrite-ledger.js';
import { type Position, Room, type RoomRecord, type Side } from '../../../domain/chat/room.model.js';
import { stateOf } from '../../../domain/chat/room-states.js';
import { nextTurn } from '../../support/eventually.js';
import { service } from '../../support/service.js';

const CREATOR = 1;
const JOINER = 2;
const SIDES: Side[] = ['creator', 'joiner'];

/** A message with arbitrary bookkeeping. */
interface BrokenMessage {
  /** Numbers missing before it. */
  gap: number;
  senderNo: number;
  sent: Record<Side, number>;
  read: Record<Side, Position>;
}

const position = fc.record({ seq: fc.nat(30), others: fc.nat(30) });
const positions = fc.record({ creator: position, joiner: position });
const brokenMessage: fc.Arbitrary<BrokenMessage> = fc.record({
  gap: fc.constantFrom(0, 0, 0, 1, 3),
  senderNo: fc.constantFrom(CREATOR, JOINER),
  sent: fc.record({ creator: fc.nat(30), joiner: fc.nat(30) }),
  read: positions,
});

let chatNo = 50_000_000;

/** Where numbers begin: some of them below 1, or none. */
const before1 = fc.constantFrom(0, -4);

/**
 * Stores a room with broken bookkeeping.
 * @param after its first message has a higher number
 */
async function store(broken: BrokenMessage[], read: RoomRecord['read'], after = 0): Promise<void> {
  chatNo += 1;
  const room = { _id: chatNo, saleNo: chatNo, creator: CREATOR, joiner: JOINER, createdAt: new Date(), read };
  await Room.collection.insertOne(room as never);
  let seq = after;
  const messages = broken.map(({ gap, ...fields }, i) => {
    seq += gap + 1;
    const text = { contentType: 'text', content: `${i}`, sentAt: new Date() };
    return { _id: `${chatNo} ${String(i).padStart(4, '0')}`, chatNo, seq, ...text, ...fields };
  });
  if (messages.length > 0) await Message.collection.insertMany(messages as never[]);
}

async function records(): Promise<{ room: RoomRecord; messages: MessageRecord[] }> {
  const room = (await Room.findById(chatNo).lean()) as RoomRecord;
  return { room, messages: await Message.find({ chatNo }).sort({ seq: 1 }).lean() };
}

/** The messages that a side has not read. */
function unread(room: RoomRecord, messages: MessageRecord[], side: Side): string[] {
  const { read, seq: newest } = stateOf(room, messages.at(-1));
  const upTo = Math.min(read[side].seq, newest);
  return messages.filter(({ seq }) => seq > upTo).map(({ _id }) => _id);
}

function faults({ room, messages }: Awaited<ReturnType<typeof records>>) {
  const audit = new RoomAudit(room);
  for (const message of messages) audit.add(message);
  return audit.finish();
}

async function expectMended(): Promise<void> {
  const before = await records();
  await rewriteLedger(chatNo);
  const after = await records();
  expect(faults(after)).to.deep.equal([]);
  const order = ({ messages }: typeof before) => messages.map(({ _id }) => _id);
  expect(order(after)).to.deep.equal(order(before));
  for (const side of SIDES) {
    expect(unread(after.room, after.messages, side), `unread by the ${side}`).to.deep.equal(
      unread(before.room, before.messages, side),
    );
  }
  await rewriteLedger(chatNo);
  expect(await records(), 'once more').to.deep.equal(after);
}

describe('rewriting the bookkeeping of a room', () => {
  before(() => service());

  it('makes it agree with the messages, and leaves unread what was unread', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(brokenMessage, { maxLength: 8 }),
        positions,
        before1,
        async (broken, read, after) => {
          await store(broken, read, after);
          await expectMended();
        },
      ),
      { numRuns: 20 },
    ));

  it('rewrites more messages than fit into one write', async () => {
    const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 2, others: 1 } };
    const message = { senderNo: CREATOR, read };
    const broken = Array.from({ length: 501 }, (_, i) => ({
      ...message,
      gap: i === 0 ? 2 : 0,
      sent: { creator: i, joiner: 0 },
    }));
    await store(broken, read);
    await expectMended();
  });

  it('closes a gap although nothing else is wrong', async () => {
    const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };
    await store(
      [0, 1, 0].map((gap, i) => ({ gap, senderNo: CREATOR, sent: { creator: i + 1, joiner: 0 }, read })),
      read,
    );
    await expectMended();
  });

  it('writes nothing for a correct room, or none', async () => {
    const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 1, others: 1 } };
    await store([{ gap: 0, senderNo: CREATOR, sent: { creator: 1, joiner: 0 }, read }], read);
    const { bulkWrite } = Message;
    const { updateOne } = Room;
    let written = 0;
    const count = () => {
      written += 1;
      throw new Error('written');
    };
    Object.assign(Message, { bulkWrite: count });
    Object.assign(Room, { updateOne: count });
    try {
      await rewriteLedger(chatNo);
      await rewriteLedger(chatNo + 1);
    } finally {
      Object.assign(Message, { bulkWrite });
      Object.assign(Room, { updateOne });
    }
    expect(written).to.equal(0);
  });
});

describe('an interrupted rewrite', () => {
  before(() => service());

  it('fails, leaves the room’s positions, and is finished by the next one', async () => {
    const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 3, others: 1 } };
    const wrong = { senderNo: CREATOR, sent: { creator: 0, joiner: 0 }, read };
    await store(
      [1, 0, 2].map((gap) => ({ gap, ...wrong })),
      read,
    );
    const { bulkWrite } = Message;
    Object.assign(Message, {
      bulkWrite: async () => {
        await nextTurn();
        throw new Error('the database is away');
      },
    });
    try {
      const fault = await rewriteLedger(chatNo).catch((error: Error) => error);
      expect(fault).to.have.property('message', 'the database is away');
    } finally {
      Object.assign(Message, { bulkWrite });
    }
    expect((await records()).room.read).to.deep.equal(read);
    await expectMended();
  });

  it('leaves unread what was unread, wherever it ends', async () => {
    const { updateOne } = Room;
    const { updateMany } = Message;
    const { bulkWrite } = Message.collection;
    const unreadNow = async () => {
      const { room, messages } = await records();
      return SIDES.map((side) => unread(room, messages, side));
    };
    const restore = () => {
      Object.assign(Room, { updateOne });
      Object.assign(Message, { updateMany });
      Object.assign(Message.collection, { bulkWrite });
    };
    /** Fails what follows so many writes. */
    function endAfter(writes: number): void {
      let left = writes;
      const take = (count: number) => {
        const taken = Math.min(count, left);
        left -= taken;
        return taken;
      };
      const end = () => {
        throw new Error('the process ends');
      };
      Object.assign(Room, {
        updateOne: async (...args: Parameters<typeof updateOne>) =>
          take(1) ? updateOne.apply(Room, args) : end(),
      });
      Object.assign(Message, {
        updateMany: async (...args: Parameters<typeof updateMany>) =>
          take(1) ? updateMany.apply(Message, args) : end(),
      });
      Object.assign(Message.collection, {
        bulkWrite: async (changes: never[]) => {
          const written = changes.slice(0, take(changes.length));
          if (written.length > 0) await bulkWrite.call(Message.collection, written);
          return written.length < changes.length ? end() : {};
        },
      });
    }
    const at = (seq: number) => ({ seq, others: 0 });
    const read = { creator: at(3), joiner: at(1) };
    const broken = [1, 0, 2, 0, 1].map((gap, i) => {
      const sent = { creator: 0, joiner: 0 };
      return { gap, senderNo: i % 2 ? CREATOR : JOINER, sent, read: { creator: at(i), joiner: at(2) } };
    });
    try {
      // Without numbers below 1, and with some.
      for (const after of [0, -4]) {
        for (let [writes, isEnded] = [0, true]; isEnded; writes += 1) {
          await store(broken, read, after);
          const [ofCreator = [], ofJoiner = []] = await unreadNow();
          expect([ofCreator.length, ofJoiner.length]).to.satisfy((counts: number[]) => counts.every(Boolean));
          isEnded = false;
          endAfter(writes);
          await rewriteLedger(chatNo).catch(() => {
            isEnded = true;
          });
          restore();
          for (const state of ['where it ended', 'once finished']) {
            const now = await unreadNow();
            expect(now[0], `${state}, after ${writes} writes`).to.include.members(ofCreator);
            expect(now[1], `${state}, after ${writes} writes`).to.include.members(ofJoiner);
            await rewriteLedger(chatNo);
          }
          expect(faults(await records())).to.deep.equal([]);
        }
      }
    } finally {
      restore();
    }
  });
});

describe('the audit of a room', () => {
  const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 1, others: 1 } };
  const room: RoomRecord = {
    _id: 7,
    saleNo: 1,
    creator: CREATOR,
    joiner: JOINER,
    createdAt: new Date(),
    read,
  };
  const entry = { _id: 'a', seq: 1, senderNo: CREATOR, sent: { creator: 1, joiner: 0 }, read };
  const faultsOf = (given: RoomRecord, ...entries: (typeof entry)[]) => {
    const audit = new RoomAudit(given);
    for (const one of entries) audit.add(one);
    return audit.finish().map(({ kind, text }) => `${kind}: ${text}`);
  };

  it('finds nothing in a correct room, and reports each kind of fault once, with its count', () => {
    expect(faultsOf(room, entry)).to.deep.equal([]);
    const third = { ...entry, seq: 3, senderNo: 9, sent: { creator: 1, joiner: 0 } };
    const fifth = { ...third, seq: 5 };
    expect(faultsOf(room, entry, third, fifth)).to.deep.equal([
      'message-number: room 7: message number 3 follows 1 (and 1 more like it)',
      'message-sender: room 7: message 3 is by member 9, who takes no part (and 1 more like it)',
    ]);
    const next = { ...entry, seq: 2, sent: { creator: 3, joiner: 1 } };
    expect(faultsOf(room, entry, next)).to.deep.equal([
      'message-sent: room 7: message 2 has the creator sending 3 messages so far, but there are 2 (and 1 more like it)',
      "room-unread: room 7: the creator's unread count is 1, but 0 messages are unread (and 1 more like it)",
    ]);
  });

  it('checks the read positions of the room and of its messages', () => {
    const readUpTo = (seq: number, others: number) => ({ ...read, joiner: { seq, others } });
    const cases: [seq: number, others: number, fault: string | undefined][] = [
      [1, 1, undefined],
      [0, 0, undefined],
      [2, 1, 'position: room 7: WHO has the joiner reading up to 2, but 1 is the newest'],
      [-1, 0, 'position: room 7: WHO has the joiner reading up to -1, but 1 is the newest'],
      [1, 0, 'others: room 7: WHO has the joiner reading 0 messages of the other up to 1, but there are 1'],
    ];
    for (const [seq, others, fault] of cases) {
      const own = faultsOf({ ...room, read: readUpTo(seq, others) }, { ...entry, read: readUpTo(0, 0) });
      const carried = faultsOf(room, { ...entry, read: readUpTo(seq, others) });
      const expected = (of: string, who: string) => (fault ? [`${of}-${fault.replace('WHO', who)}`] : []);
      expect(own.slice(0, 1), `${seq} ${others}`).to.deep.equal(expected('room', 'the room'));
      expect(carried.slice(0, 1), `${seq} ${others}`).to.deep.equal(expected('message', 'a message'));
    }
  });
});
