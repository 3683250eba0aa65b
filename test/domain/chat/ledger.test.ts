import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import type { MessageRecord } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { inStoppedTime } from '../../support/time.js';
import { CREATOR, expectUnavailable, FakeMessages, JOINER, nobody, outcomes } from './fake-messages.js';

describe('the ledger of messages', () => {
  let db: FakeMessages;
  beforeEach(() => {
    db = new FakeMessages();
  });
  afterEach(() => db.end());

  for (const [count, expected] of [
    [1, [1]],
    [2, [2]],
    [250, [100, 100, 50]],
  ] as const) {
    it(`stores ${count} sends of a room that wait by inserts of ${[...new Set(expected)]}`, async () => {
      for (const start of [0, count]) {
        db.inserts = [];
        const all: Promise<number>[] = [];
        for (let i = 0; i < count; i += 1) {
          all.push(db.send(1, `${i}`));
          // As from sockets: each by itself, all in one turn of the event loop.
          await null;
        }
        expect(await Promise.all(all)).deep.equal(all.map((_, i) => start + i + 1));
        expect(db.inserts).deep.equal(expected);
      }
      expect(
        db
          .held(1)
          .map(({ content }) => content)
          .slice(count),
      ).deep.equal(Array.from({ length: count }, (_, i) => `${i}`));
    });
  }

  it('stores those of many rooms together: at most 500 an insert, two at a time', async () => {
    const { open, opened } = gate();
    db.before = () => opened;
    const all = Array.from({ length: 1_200 }, (_, i) => db.send(i + 1));
    await nextTurn(10);
    expect(db.inserts).deep.equal([500, 500]);
    open();
    expect(new Set(await Promise.all(all))).deep.equal(new Set([1]));
    expect(db.inserts).deep.equal([500, 500, 200]);
  });

  for (const count of [1, 2, 10]) {
    it(`acknowledges nothing of a failed insert (${count} sends of each room)`, async () => {
      await db.send(1);
      await db.states.get(1);
      const failure = new MongoNetworkTimeoutError('the answer did not come');
      db.before = (records) => {
        db.overtake(records[0] as MessageRecord);
        throw failure;
      };
      const all = [1, 2].flatMap((chatNo) => db.sends(count, chatNo));
      expect(new Set(await outcomes(all))).deep.equal(new Set([failure]));
      expect(db.unknown).deep.include.members([
        [1, 1],
        [2, 0],
      ]);
      expect([db.states.peek(1), db.states.peek(2)], 'it may be stored all the same').deep.equal([
        undefined,
        undefined,
      ]);
    });
  }

  it('tells each send of a shared insert what became of its own message', async () => {
    db.before = () => {
      db.before = () => {};
      // A record that the database does not take, for another reason than its number.
      const writeErrors = [{ index: 1, code: 121 }];
      throw Object.assign(new Error('a document failed validation'), { writeErrors });
    };
    const [first, second, third] = await outcomes([db.send(1), db.send(2), db.send(3)]);
    expect([first, third]).deep.equal([1, 1]);
    expect(second).instanceOf(Error).property('message', 'a document failed validation');
    expect(db.unknown).deep.equal([[2, 0]]);
  });

  it('stores the others of a shared insert where another process was first in one room', async () => {
    db.before = ([record]) => {
      db.before = () => {};
      db.overtake(record as MessageRecord);
    };
    expect(await Promise.all([db.send(1), db.send(2), db.send(3)])).deep.equal([2, 1, 1]);
    expect([2, 3].map((chatNo) => db.held(chatNo).length)).deep.equal([1, 1]);
  });

  it('acknowledges no send of a room’s own insert that the database refuses', async () => {
    db.before = () => {
      throw Object.assign(new Error('a document failed validation'), {
        writeErrors: [{ index: 4, code: 121 }],
      });
    };
    for (const outcome of await outcomes(db.sends(10))) expect(outcome).instanceOf(Error);
  });

  for (const [wins, isStored] of [
    [199, true],
    [200, false],
  ] as const) {
    it(`${isStored ? 'stores' : 'gives up'} where other processes were first ${wins} times`, async () => {
      let lost = 0;
      db.before = ([record]) => {
        lost += 1;
        if (lost <= wins) db.overtake(record as MessageRecord);
      };
      const [outcome] = await outcomes([db.send(1)]);
      if (isStored) expect(outcome).equal(wins + 1);
      else expectUnavailable(outcome);
      expect(db.inserts).lengthOf(200);
      await db.ledger.close();
    });
  }

  for (const [wins, isStored] of [
    [348, true],
    [349, false],
  ] as const) {
    it(`counts anew once one of those that wait together is stored: ${wins} times in all`, async () => {
      let lost = 0;
      db.before = (records) => {
        lost += 1;
        // The first one is stored when the others have lost 150 times already.
        if (lost <= wins) db.overtake(records[lost === 150 ? 1 : 0] as MessageRecord);
      };
      const [first, ...others] = await outcomes(db.sends(10));
      expect(first).equal(150);
      if (isStored) expect(others).deep.equal(Array.from({ length: 9 }, (_, i) => wins + 2 + i));
      else for (const outcome of others) expectUnavailable(outcome);
    });
  }

  it('has a recipient who is present read at once, the sender’s other party alone', async () => {
    db.present.add(CREATOR);
    const draft = { contentType: 'text', content: 'hello' } as const;
    const [one, two] = await Promise.all(
      (['joiner', 'creator'] as const).map((side) => db.ledger.append(1, { side, ...draft })),
    );
    expect(one?.record.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
    expect(one?.record).not.property('unannounced');
    expect(two?.record.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
    expect(two?.record).property('unannounced', true);
    expect(db.states.peek(1)?.read).deep.equal(two?.record.read);
  });

  it('keeps a read position that moved while a message was being stored', async () => {
    await db.send(1);
    db.before = () => db.states.advanceRead(1, { memberNo: CREATOR, seq: 1, others: 1 });
    await db.send(1);
    expect(db.states.peek(1)?.read).deep.equal({ ...nobody, creator: { seq: 1, others: 1 } });
  });

  for (const read of [3, 10]) {
    it(`keeps the room’s state current if it is loaded when ${read} of ten messages are stored`, async () => {
      await db.send(1);
      db.before = async (records) => {
        for (const record of records.slice(0, read)) db.hold(record);
        expect((await db.states.load(1)).seq).equal(1 + read);
        db.rooms.set(1, db.held(1).slice(0, 1));
      };
      await Promise.all(db.sends(10));
      const { seq, sent, latest } = await db.states.get(1);
      expect({ seq, sent, latest: latest?.content }).deep.equal({
        seq: 11,
        sent: { creator: 0, joiner: 11 },
        latest: '9',
      });
    });
  }

  it('does not set a room back where an insert is answered after what followed it', async () => {
    await db.send(1);
    // Its sender has repeated it through another process, which published it, and the other party has answered.
    db.before = ([record]) => {
      db.before = () => {};
      const { content } = record as MessageRecord;
      const mine = { chatNo: 1, seq: 2, senderNo: JOINER, readCount: 1, content } as MessagePayload;
      for (const push of [mine, { ...mine, seq: 3, senderNo: CREATOR, content: 'an answer' }]) {
        db.states.advance(push);
      }
    };
    expect(await db.send(1)).equal(2);
    const { seq, sent, latest } = await db.states.get(1);
    expect({ seq, sent, latest: latest?.content }).deep.equal({
      seq: 3,
      sent: { creator: 1, joiner: 2 },
      latest: 'an answer',
    });
  });

  it('moves the read position of a room that is loaded meanwhile', async () => {
    await db.send(1);
    const known = await db.states.get(1);
    // A message that is stored while the position is.
    const { updateOne } = Room;
    Room.updateOne = (async () => {
      db.overtake({ ...(db.held(1)[0] as MessageRecord), seq: 2 });
      await db.states.load(1);
    }) as never;
    try {
      await db.ledger.markRead(known, 'creator', 1);
    } finally {
      Room.updateOne = updateOne;
    }
    expect(db.states.peek(1)).property('seq', 2);
    expect(db.states.peek(1)?.read.creator).deep.equal({ seq: 1, others: 1 });
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
        db.before = async ([record]) => {
          if (record?.chatNo !== 1) return;
          db.before = () => {};
          await opened;
          throw lost;
        };
        const first = db.send(1);
        await nextTurn(10);
        const both = outcomes([first, db.send(1)]);
        if (answer !== 'nothing') {
          pass(answeredAt);
          if (answer === 'refused') {
            db.before = ([record]) => {
              db.before = () => {
                db.before = () => {};
                throw lost;
              };
              db.overtake(record as MessageRecord);
            };
          }
          await outcomes([db.send(2)]);
        }
        const asked = db.inserts.length;
        pass(passed - answeredAt);
        open();
        const [, outcome] = await both;
        if (isRefused) expectUnavailable(outcome);
        else expect(outcome).equal(1);
        expect(db.inserts).lengthOf(isRefused ? asked : asked + 1);
      }));
  }

  it('refuses nobody who comes behind a quiet time', async () => {
    await inStoppedTime(async (pass) => {
      await db.send(1);
      pass(3_600_000);
      expect(await Promise.all(db.sends(3))).deep.equal([2, 3, 4]);
    });
  });
});
