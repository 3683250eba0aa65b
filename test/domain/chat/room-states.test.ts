import { expect } from 'chai';
import { createRoomStates, headOf, type RoomState } from '../../../domain/chat/rooms/room-states.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';

const CHAT = 7;

/** States of a process, and the one of the room in a database of the test's own. */
function buildStates() {
  const database: { state: RoomState } = {
    state: {
      ...{ chatNo: CHAT, saleNo: 1, creator: 1, joiner: 2, createdAt: new Date(0), seq: 2 },
      sent: { creator: 2, joiner: 0 },
      read: { creator: { seq: 0, others: 0 }, joiner: { seq: 1, others: 1 } },
    },
  };
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

  it('keep what they know better than a read that was under way', async () => {
    const { database, states, message, numbers } = buildStates();
    const held = await states.load(CHAT);
    const older = structuredClone(database.state);
    database.state = { ...older, read: { ...older.read, creator: { seq: 2, others: 0 } } };
    message(3, 1);
    expect(await states.load(CHAT), 'the object that a send holds').to.equal(held);
    expect(numbers()).to.deep.equal([3, { creator: 3, joiner: 0 }, [2, 0], [1, 1]]);
  });

  it('do not share what was read together', async () => {
    const { states, message } = buildStates();
    const [first] = await Promise.all([states.load(CHAT), states.load(CHAT)]);
    message(3, 1);
    states.forget(CHAT);
    expect((await states.load(CHAT)).seq).to.equal(2);
    expect(first.seq).to.equal(3);
  });
});
