import { expect } from 'chai';
import type { MessageRecord } from '../../../domain/chat/message.model.js';
import type { RoomRecord } from '../../../domain/chat/room.model.js';
import { createRoomStates, headOf, markOf, stateOf, unreadOf } from '../../../domain/chat/room-states.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { roomState } from '../../support/chat.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { fakeTime } from '../../support/time.js';

const CHAT = 7;

/** States of a process, and the one of the room in a database of the test's own. */
function buildStates() {
  const read = { creator: { seq: 0, others: 0 }, joiner: { seq: 1, others: 1 } };
  const database = { state: roomState({ chatNo: CHAT, seq: 2, sent: { creator: 2, joiner: 0 }, read }) };
  const states = createRoomStates(async () => new Map([[CHAT, database.state]]));
  const message = (seq: number, senderNo: number, readCount = 1) =>
    states.advance({ chatNo: CHAT, seq, senderNo, readCount, sendTime: 0 } as MessagePayload);
  const numbers = () => {
    const state = states.peek(CHAT);
    return state && [state.seq, state.sent, ...headOf(state).reads.map(({ seq, others }) => [seq, others])];
  };
  return { database, states, message, numbers };
}

describe('the states of rooms in memory', () => {
  it('take in what is heard: messages in turn, and positions that only rise', async () => {
    const { states, message, numbers } = buildStates();
    await states.load(CHAT);
    message(3, 2, 0);
    message(3, 2, 0);
    expect(numbers()).to.deep.equal([3, { creator: 2, joiner: 1 }, [3, 1], [1, 1]]);
    states.advanceRead(CHAT, { memberNo: 2, seq: 2, others: 2 });
    states.advanceRead(CHAT, { memberNo: 2, seq: 1, others: 1 });
    expect(numbers()).to.deep.equal([3, { creator: 2, joiner: 1 }, [3, 1], [2, 2]]);
  });

  it('are forgotten where a message is missing: the database knows what is between', async () => {
    const { states, message, numbers } = buildStates();
    await states.load(CHAT);
    message(4, 1);
    expect(numbers()).to.equal(undefined);
    message(5, 1);
    expect(numbers(), 'nothing to go on from').to.equal(undefined);
  });

  it('leave memory when nobody has used them for a minute', async () => {
    const time = fakeTime();
    try {
      const { states } = buildStates();
      await states.load(CHAT);
      for (let minute = 0; minute < 3; minute += 1) {
        await time.pass(50_000);
        await states.get(CHAT);
      }
      expect(states.peek(CHAT), 'in use').not.to.equal(undefined);
      await time.pass(75_000);
      expect(states.peek(CHAT)).to.equal(undefined);
    } finally {
      time.restore();
    }
  });

  it('are told in the order in which they are asked for, in memory or not', async () => {
    const held = gate();
    let reads = 0;
    const states = createRoomStates(async () => {
      reads += 1;
      if (reads === 1) await held.opened;
      return new Map([[CHAT, roomState({ chatNo: CHAT })]]);
    });
    const order: number[] = [];
    const ask = (turn: number) => states.get(CHAT).then(() => order.push(turn));
    const asked = [ask(1)];
    await nextTurn();
    await states.load(CHAT);
    asked.push(ask(2));
    await nextTurn();
    held.open();
    await Promise.all(asked);
    expect(order).to.deep.equal([1, 2]);
  });

  it('keep what they know better than a read that was under way', async () => {
    const { database, states, message, numbers } = buildStates();
    const held = await states.load(CHAT);
    const older = structuredClone(database.state);
    database.state = { ...older, read: { ...older.read, creator: { seq: 2, others: 0 } } };
    expect(await states.load(CHAT), 'the object that a send holds').to.equal(held);
    message(3, 1);
    expect(await states.load(CHAT), 'also with a newer message in it').to.equal(held);
    expect(numbers()).to.deep.equal([3, { creator: 3, joiner: 0 }, [2, 0], [1, 1]]);
  });

  it('keep what is heard while the room is being loaded', async () => {
    const held = gate();
    const { database } = buildStates();
    const states = createRoomStates(async () => {
      const found = new Map([[CHAT, structuredClone(database.state)]]);
      await held.opened;
      return found;
    });
    const loads = [states.load(CHAT), states.get(CHAT)];
    await nextTurn();
    states.advanceRead(CHAT, { memberNo: 1, seq: 1, others: 0 });
    const written = structuredClone(database.state);
    written.read.joiner = { seq: 2, others: 2 };
    states.merge(written);
    states.advance({ chatNo: CHAT, seq: 3, senderNo: 1, readCount: 1, sendTime: 0 } as MessagePayload);
    held.open();
    for (const { seq, read } of await Promise.all(loads))
      expect([seq, read]).to.deep.equal([
        3,
        { creator: { seq: 1, others: 0 }, joiner: { seq: 2, others: 2 } },
      ]);
    states.forget(CHAT);
    states.advanceRead(CHAT, { memberNo: 1, seq: 2, others: 0 });
    expect(states.peek(CHAT), 'of a room that nobody loads').to.equal(undefined);
  });

  it('keep what is heard during a load, although the state in memory is forgotten meanwhile', async () => {
    const { database, states } = buildStates();
    await states.load(CHAT);
    database.state = structuredClone(database.state);
    const loading = states.load(CHAT);
    states.advanceRead(CHAT, { memberNo: 1, seq: 2, others: 0 });
    states.forget(CHAT);
    expect((await loading).read.creator).to.deep.equal({ seq: 2, others: 0 });
  });

  it('do not share what was read together', async () => {
    const { states, message } = buildStates();
    const [first] = await Promise.all([states.load(CHAT), states.load(CHAT)]);
    message(3, 1);
    states.forget(CHAT);
    expect((await states.load(CHAT)).seq).to.equal(2);
    expect(first.seq).to.equal(3);
  });

  it('hold the last 50,000 rooms', async () => {
    const { state } = buildStates().database;
    const states = createRoomStates(
      async (chatNos) => new Map(chatNos.map((chatNo) => [chatNo, { ...state, chatNo }])),
    );
    await Promise.all(Array.from({ length: 50_001 }, (_, i) => states.load(i + 1)));
    expect(states.peek(1), 'the one that was used first').to.equal(undefined);
    expect(states.peek(2)).to.include({ chatNo: 2 });
  });
});

describe('the state of a room from its two records', () => {
  const at = (seq: number, others: number) => ({ seq, others });
  const fixed = { saleNo: 3, creator: 1, joiner: 2, createdAt: new Date(5) };
  const room = (creator = at(0, 0), joiner = at(0, 0)): RoomRecord => ({
    _id: CHAT,
    ...fixed,
    read: { creator, joiner },
  });
  const latest = { content: 'hello', contentType: 'text', sentAt: new Date(9) };
  const sent = { creator: 3, joiner: 2 };
  const head = { ...latest, seq: 5, sent, read: { creator: at(2, 1), joiner: at(4, 3) } } as MessageRecord;

  it('has the larger of both positions of each side, and counts what is unread from it', () => {
    const state = stateOf(room(at(5, 2), at(1, 1)), head);
    const read = { creator: at(5, 2), joiner: at(4, 3) };
    expect(state).to.deep.equal({ chatNo: CHAT, ...fixed, seq: 5, sent, read, latest });
    expect([unreadOf(state, 'creator'), unreadOf(state, 'joiner')]).to.deep.equal([0, 0]);
    const behind = stateOf(room(), head);
    expect([unreadOf(behind, 'creator'), unreadOf(behind, 'joiner')]).to.deep.equal([1, 0]);
    expect(markOf(state, 'creator')).to.deep.equal({ seq: 5, read: 2 });
    expect(markOf(state, 'joiner')).to.deep.equal({ seq: 5, read: 3 });
  });

  it('is one of zeros without a message', () => {
    const state = stateOf(room(), undefined);
    expect(state).to.include({ seq: 0 });
    expect(state.sent).to.deep.equal({ creator: 0, joiner: 0 });
    expect(state).not.to.have.property('latest');
    expect(markOf(state, 'joiner')).to.deep.equal({ seq: 0, read: 0 });
  });
});
