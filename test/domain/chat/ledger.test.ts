// biome-ignore-all lint/style/noExcessiveLinesPerFile: all cases share one fake of the collection
import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import { type Draft, Ledger } from '../../../domain/chat/ledger.js';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import { Room, type RoomRecord } from '../../../domain/chat/room.model.js';
import { createRoomStates, type RoomStates, stateOf } from '../../../domain/chat/room-states.js';
import { sendMessage } from '../../../domain/chat/send-message.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import { AppError } from '../../../domain/kernel/errors.js';
import { type MessagePayload, noLive } from '../../../domain/kernel/live.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { inStoppedTime } from '../../support/time.js';

const CREATOR = 1;
const JOINER = 2;
const TAKEN = 11_000;
const nobody = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };

describe('the ledger of messages', () => {
  const { insertMany } = Message.collection;
  /** What the database holds, by room. */
  let rooms: Map<number, MessageRecord[]>;
  /** The numbers of records of all inserts. */
  let inserts: number[];
  /** What happens before an insert is carried out. */
  let before: (records: MessageRecord[]) => Promise<void> | void;
  let present: Set<number>;
  let unknown: [chatNo: number, seq: number][];
  let states: RoomStates;
  let ledger: Ledger;

  const held = (chatNo: number) => rooms.get(chatNo) ?? [];
  const hold = (record: MessageRecord) =>
    rooms.set(
      record.chatNo,
      [...held(record.chatNo), record].sort((a, b) => a.seq - b.seq),
    );

  /** Carries out an insert as the database does with the unique index on (room, number). */
  async function insert(records: MessageRecord[], { ordered }: { ordered: boolean }): Promise<void> {
    inserts.push(records.length);
    await before(records);
    const writeErrors: { index: number; code: number }[] = [];
    for (const [index, record] of records.entries()) {
      if (ordered && writeErrors.length > 0) break;
      if (held(record.chatNo).some(({ seq }) => seq === record.seq)) writeErrors.push({ index, code: TAKEN });
      else hold(record);
    }
    if (writeErrors.length > 0) throw Object.assign(new Error('duplicate keys'), { writeErrors });
  }

  beforeEach(() => {
    [rooms, inserts, present, unknown] = [new Map(), [], new Set(), []];
    before = () => {};
    Message.collection.insertMany = insert as never;
    states = createRoomStates(async (chatNos) => {
      const room = { saleNo: 1, creator: CREATOR, joiner: JOINER, createdAt: new Date(0), read: nobody };
      const loaded = (no: number) => stateOf({ ...room, _id: no } as RoomRecord, held(no).at(-1));
      return new Map(chatNos.map((no) => [no, loaded(no)]));
    });
    ledger = new Ledger({
      clock: { now: () => 0 },
      states,
      presence: { isPresent: async (_, memberNo) => present.has(memberNo) },
      onUnknownOutcome: (...room) => unknown.push(room),
    });
  });
  afterEach(() => {
    Message.collection.insertMany = insertMany;
  });

  const send = async (chatNo: number, content = 'hello'): Promise<number> =>
    (await ledger.append(chatNo, { side: 'joiner', contentType: 'text', content })).record.seq;
  const sends = (count: number, chatNo = 1) => Array.from({ length: count }, (_, i) => send(chatNo, `${i}`));
  const outcomes = async (all: Promise<number>[]) =>
    (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value : one.reason));
  const unavailable = (error: unknown) =>
    expect(error).instanceOf(AppError).property('code', 'SERVICE_UNAVAILABLE');

  /** Another process stores a message under the number that a record was to have. */
  const overtake = (record: MessageRecord) => {
    const sent = { ...record.sent, creator: record.sent.creator + 1, joiner: record.sent.joiner - 1 };
    hold({ ...record, _id: 'theirs', senderNo: CREATOR, sent });
  };

  for (const [count, expected] of [
    [7, [1, 1, 1, 1, 1, 1, 1]],
    [8, [8]],
    [250, [100, 100, 50]],
  ] as const) {
    it(`stores ${count} sends of a room that wait by inserts of ${[...new Set(expected)]}`, async () => {
      for (const start of [0, count]) {
        inserts = [];
        const all: Promise<number>[] = [];
        for (let i = 0; i < count; i += 1) {
          all.push(send(1, `${i}`));
          // As from sockets: each by itself, all in one turn of the event loop.
          await null;
        }
        expect(await Promise.all(all)).deep.equal(all.map((_, i) => start + i + 1));
        expect(inserts).deep.equal(expected);
      }
      expect(
        held(1)
          .map(({ content }) => content)
          .slice(count),
      ).deep.equal(Array.from({ length: count }, (_, i) => `${i}`));
    });
  }

  it('stores those of many rooms together: at most 500 an insert, two at a time', async () => {
    const { open, opened } = gate();
    before = () => opened;
    const all = Array.from({ length: 1_200 }, (_, i) => send(i + 1));
    await nextTurn(10);
    expect(inserts).deep.equal([500, 500]);
    open();
    expect(new Set(await Promise.all(all))).deep.equal(new Set([1]));
    expect(inserts).deep.equal([500, 500, 200]);
  });

  for (const count of [1, 2, 10]) {
    it(`acknowledges nothing of a failed insert (${count} sends of each room)`, async () => {
      await send(1);
      await states.get(1);
      const failure = new MongoNetworkTimeoutError('the answer did not come');
      before = (records) => {
        overtake(records[0] as MessageRecord);
        throw failure;
      };
      const all = [1, 2].flatMap((chatNo) => sends(count, chatNo));
      expect(new Set(await outcomes(all))).deep.equal(new Set([failure]));
      expect(unknown).deep.include.members([
        [1, 1],
        [2, 0],
      ]);
      expect([states.peek(1), states.peek(2)], 'it may be stored all the same').deep.equal([
        undefined,
        undefined,
      ]);
    });
  }

  it('tells each send of a shared insert what became of its own message', async () => {
    before = () => {
      before = () => {};
      // A record that the database does not take, for another reason than its number.
      const writeErrors = [{ index: 1, code: 121 }];
      throw Object.assign(new Error('a document failed validation'), { writeErrors });
    };
    const [first, second, third] = await outcomes([send(1), send(2), send(3)]);
    expect([first, third]).deep.equal([1, 1]);
    expect(second).instanceOf(Error).property('message', 'a document failed validation');
    expect(unknown).deep.equal([[2, 0]]);
  });

  it('stores the others of a shared insert where another process was first in one room', async () => {
    before = ([record]) => {
      before = () => {};
      overtake(record as MessageRecord);
    };
    expect(await Promise.all([send(1), send(2), send(3)])).deep.equal([2, 1, 1]);
    expect([2, 3].map((chatNo) => held(chatNo).length)).deep.equal([1, 1]);
  });

  it('acknowledges no send of a room’s own insert that the database refuses', async () => {
    before = () => {
      throw Object.assign(new Error('a document failed validation'), {
        writeErrors: [{ index: 4, code: 121 }],
      });
    };
    for (const outcome of await outcomes(sends(10))) expect(outcome).instanceOf(Error);
  });

  for (const [wins, isStored] of [
    [199, true],
    [200, false],
  ] as const) {
    it(`${isStored ? 'stores' : 'gives up'} where other processes were first ${wins} times`, async () => {
      let lost = 0;
      before = ([record]) => {
        lost += 1;
        if (lost <= wins) overtake(record as MessageRecord);
      };
      const [outcome] = await outcomes([send(1)]);
      if (isStored) expect(outcome).equal(wins + 1);
      else unavailable(outcome);
      expect(inserts).lengthOf(200);
      await ledger.idle();
    });
  }

  for (const [wins, isStored] of [
    [348, true],
    [349, false],
  ] as const) {
    it(`counts anew once one of those that wait together is stored: ${wins} times in all`, async () => {
      let lost = 0;
      before = (records) => {
        lost += 1;
        // The first one is stored when the others have lost 150 times already.
        if (lost <= wins) overtake(records[lost === 150 ? 1 : 0] as MessageRecord);
      };
      const [first, ...others] = await outcomes(sends(10));
      expect(first).equal(150);
      if (isStored) expect(others).deep.equal(Array.from({ length: 9 }, (_, i) => wins + 2 + i));
      else for (const outcome of others) unavailable(outcome);
    });
  }

  describe('delivers', () => {
    /** Of each message in turn: its number, and how many messages its room holds. */
    let delivered: [seq: number, stored: number][];
    /** What happened, with a message's number. */
    let order: string[];
    /** Numbers of the messages that the notifier of absent members was given. */
    let queued: number[];
    let message: (payload: MessagePayload) => void;

    beforeEach(() => {
      [delivered, order, queued] = [[], [], []];
      message = ({ chatNo, seq }) => {
        delivered.push([seq, held(chatNo).length]);
        order.push(`delivered ${seq}`);
      };
    });

    const deliver = async (content: string): Promise<number> => {
      const deps = {
        states,
        ledger: {
          append(chatNo: number, draft: Draft) {
            const appended = ledger.append(chatNo, draft);
            appended.then(
              ({ record }) => order.push(`stored ${record.seq}`),
              () => {},
            );
            return appended;
          },
        },
        live: { ...noLive, message: (payload: MessagePayload) => message(payload) },
        changes: { touch() {} },
        notifyAbsent: { enqueue: ({ seq }: MessageRecord) => queued.push(seq) },
        directory: { latest: (actor: Actor) => actor },
      };
      const actor: Actor = { no: JOINER, email: '', nickname: 'Minji', profile: '', role: 'USER' };
      const input = { chatNo: 1, contentType: 'text', content } as const;
      return (await sendMessage(deps as unknown as ChatDeps, actor, input)).seq;
    };
    const deliverAll = (count: number) => Array.from({ length: count }, (_, i) => deliver(`${i}`));

    for (const [count, perInsert] of [
      [3, 1],
      [10, 10],
    ] as const) {
      it(`${count} messages sent at once in order, each when it is stored and before the next insert`, async () => {
        const seqs = await Promise.all(deliverAll(count));
        expect(inserts).deep.equal(Array(count / perInsert).fill(perInsert));
        expect(delivered).deep.equal(seqs.map((seq) => [seq, Math.ceil(seq / perInsert) * perInsert]));
        expect(seqs).deep.equal(Array.from({ length: count }, (_, i) => i + 1));
        // Nothing else runs between the two.
        expect(order).deep.equal(seqs.flatMap((seq) => [`stored ${seq}`, `delivered ${seq}`]));
        expect(queued).deep.equal(seqs);
      });
    }

    it('the others where one delivery fails: its send fails, its record stays to be notified of', async () => {
      const failure = new Error('nobody to deliver to');
      const record = message;
      message = (payload) => {
        if (payload.content === '4') throw failure;
        record(payload);
      };
      expect(await outcomes(deliverAll(10))).deep.equal([1, 2, 3, 4, failure, 6, 7, 8, 9, 10]);
      expect(delivered.map(([seq]) => seq)).deep.equal([1, 2, 3, 4, 6, 7, 8, 9, 10]);
      expect(queued).deep.equal([1, 2, 3, 4, 6, 7, 8, 9, 10]);
      expect(held(1)[4]).property('unannounced', true);
    });

    for (const count of [1, 10]) {
      it(`nothing of a failed insert of ${count}`, async () => {
        const failure = new MongoNetworkTimeoutError('the answer did not come');
        before = () => {
          throw failure;
        };
        expect(new Set(await outcomes(deliverAll(count)))).deep.equal(new Set([failure]));
        expect([delivered, queued]).deep.equal([[], []]);
      });
    }
  });

  it('is idle when no send is under way, those that came meanwhile included', async () => {
    const gates = [gate(), gate()];
    let next = 0;
    before = () => gates[next++]?.opened;
    const told: string[] = [];
    const tell = (text: string) => () => void told.push(text);
    const [first, idle] = [send(1).then(tell('first')), ledger.idle().then(tell('idle'))];
    await nextTurn(10);
    const second = send(2).then(tell('second'));
    gates[0]?.open();
    await first;
    await nextTurn(10);
    expect(told).deep.equal(['first']);
    gates[1]?.open();
    await Promise.all([second, idle]);
    expect(told).deep.equal(['first', 'second', 'idle']);
  });

  it('has a recipient who is present read at once, the sender’s other party alone', async () => {
    present.add(CREATOR);
    const draft = { contentType: 'text', content: 'hello' } as const;
    const [one, two] = await Promise.all(
      (['joiner', 'creator'] as const).map((side) => ledger.append(1, { side, ...draft })),
    );
    expect(one?.record.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
    expect(one?.record).not.property('unannounced');
    expect(two?.record.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
    expect(two?.record).property('unannounced', true);
    expect(states.peek(1)?.read).deep.equal(two?.record.read);
  });

  it('keeps a read position that moved while a message was being stored', async () => {
    await send(1);
    before = () => states.advanceRead(1, { memberNo: CREATOR, seq: 1, others: 1 });
    await send(1);
    expect(states.peek(1)?.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
  });

  for (const read of [3, 10]) {
    it(`keeps the room’s state current if it is loaded when ${read} of ten messages are stored`, async () => {
      await send(1);
      before = async (records) => {
        for (const record of records.slice(0, read)) hold(record);
        expect((await states.load(1)).seq).equal(1 + read);
        rooms.set(1, held(1).slice(0, 1));
      };
      await Promise.all(sends(10));
      const { seq, sent, latest } = await states.get(1);
      expect({ seq, sent, latest: latest?.content }).deep.equal({
        seq: 11,
        sent: { creator: 0, joiner: 11 },
        latest: '9',
      });
    });
  }

  it('moves the read position of a room that is loaded meanwhile', async () => {
    await send(1);
    const known = await states.get(1);
    // A message that is stored while the position is.
    const { updateOne } = Room;
    Room.updateOne = (async () => {
      overtake({ ...(held(1)[0] as MessageRecord), seq: 2 });
      await states.load(1);
    }) as never;
    try {
      await ledger.markRead(known, 'creator', 1);
    } finally {
      Room.updateOne = updateOne;
    }
    expect(states.peek(1)).property('seq', 2);
    expect(states.peek(1)?.read.creator).deep.equal({ seq: 1, others: 1 });
  });

  /** @param answeredAt when an insert of another room was answered, in ms */
  for (const [passed, answer, answeredAt, isRefused] of [
    [3_000, 'nothing', 0, false],
    [3_001, 'nothing', 0, true],
    [60_000, 'stored', 57_000, false],
    [60_000, 'stored', 56_999, true],
    [60_000, 'refused', 57_000, false],
    [60_000, 'refused', 56_999, true],
  ] as const) {
    const meanwhile = answer === 'nothing' ? answer : `another room’s ${answer} at ${answeredAt} ms`;
    it(`${isRefused ? 'refuses' : 'stores'} a send whose turn comes after ${passed} ms, ${meanwhile} meanwhile`, () =>
      // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one scenario, told in order
      inStoppedTime(async (pass) => {
        const { open, opened } = gate();
        const lost = new MongoNetworkTimeoutError('the answer did not come');
        before = async ([record]) => {
          if (record?.chatNo !== 1) return;
          before = () => {};
          await opened;
          throw lost;
        };
        const both = outcomes([send(1), send(1)]);
        await nextTurn(10);
        if (answer !== 'nothing') {
          pass(answeredAt);
          if (answer === 'refused') {
            before = ([record]) => {
              before = () => {
                before = () => {};
                throw lost;
              };
              overtake(record as MessageRecord);
            };
          }
          await outcomes([send(2)]);
        }
        const asked = inserts.length;
        pass(passed - answeredAt);
        open();
        const [, outcome] = await both;
        if (isRefused) unavailable(outcome);
        else expect(outcome).equal(1);
        expect(inserts).lengthOf(isRefused ? asked : asked + 1);
      }));
  }

  it('refuses nobody who comes behind a quiet time', async () => {
    await inStoppedTime(async (pass) => {
      await send(1);
      pass(3_600_000);
      expect(await Promise.all(sends(3))).deep.equal([2, 3, 4]);
    });
  });
});
