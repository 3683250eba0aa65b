import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { MessageRecord } from '../../../domain/chat/message.model.js';
import { other, type RoomRecord, type Side } from '../../../domain/chat/room.model.js';
import {
  createRoomStates,
  headOf,
  markOf,
  type RoomState,
  type RoomStates,
  stateOf,
  unreadOf,
} from '../../../domain/chat/room-states.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { roomState } from '../../support/chat.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { fakeTime } from '../../support/time.js';

const CHAT = 7;
const NUMBER_OF = { creator: 1, joiner: 2 };

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

/** What some process writes to the room. */
type Write = { kind: 'send'; side: Side; present: boolean } | { kind: 'read'; side: Side; upTo: number };

/** What happens to the state in memory: a push arrives, or once more, a read that was under way ends, or it is forgotten. */
interface Step {
  kind: 'push' | 'repeat' | 'load' | 'forget';
  /** Which push, or after which write the database was read. */
  which: number;
}

/** How many pushes later one may come than it was sent. */
const MAX_LATE = 3;

const side = fc.constantFrom<Side>('creator', 'joiner');
const writes = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('send' as const), side, present: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('read' as const), side, upTo: fc.nat(12) }) },
  ),
  { minLength: 1, maxLength: 12 },
);
const pushed = Array<'push'>(10).fill('push');
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>(...pushed, 'repeat', 'load', 'forget'),
    which: fc.nat(12),
  }),
  { maxLength: 30 },
);

/** The numbers that all others follow from. */
interface Numbers {
  seq: number;
  read: Record<Side, number>;
}

/** A room after each of its writes, and what was told of each. */
function play(chatNo: number, all: Write[]) {
  const senders: Side[] = [];
  let read: Record<Side, number> = { creator: 0, joiner: 0 };
  const sentBy = (who: Side, upTo: number) => senders.slice(0, upTo).filter((one) => one === who).length;
  const after: Numbers[] = [{ seq: 0, read }];
  const pushes = all.map((write) => {
    if (write.kind === 'send') {
      senders.push(write.side);
      if (write.present) read = { ...read, [other(write.side)]: senders.length };
    } else {
      read = { ...read, [write.side]: Math.max(read[write.side], Math.min(write.upTo, senders.length)) };
    }
    after.push({ seq: senders.length, read });
    return { write, seq: write.kind === 'send' ? senders.length : read[write.side] };
  });

  /** The state that follows from its numbers. */
  function stateAt({ seq, read: positions }: Numbers): RoomState {
    const position = (who: Side) => ({ seq: positions[who], others: sentBy(other(who), positions[who]) });
    return roomState({
      chatNo,
      seq,
      sent: { creator: sentBy('creator', seq), joiner: sentBy('joiner', seq) },
      read: { creator: position('creator'), joiner: position('joiner') },
      ...(seq > 0 ? { latest: { content: `${seq}`, contentType: 'text', sentAt: new Date(seq) } } : {}),
    });
  }
  return { after, pushes, stateAt };
}

/** Rooms as they were at the last read. */
type Database = Map<number, RoomState>;

/** Carries the steps out, and compares with what a state may know: the largest of each number. */
async function walk(states: RoomStates, database: Database, all: Write[], taken: Step[]): Promise<void> {
  const chatNo = database.size + 1;
  const { after, pushes, stateAt } = play(chatNo, all);
  let known: Numbers | undefined;

  async function load(numbers: Numbers): Promise<void> {
    database.set(chatNo, stateAt(numbers));
    await states.load(chatNo);
    const { seq, read } = known ?? numbers;
    known = {
      seq: Math.max(seq, numbers.seq),
      read: {
        creator: Math.max(read.creator, numbers.read.creator),
        joiner: Math.max(read.joiner, numbers.read.joiner),
      },
    };
  }

  function rise(who: Side, seq: number): void {
    if (known) known = { ...known, read: { ...known.read, [who]: Math.max(known.read[who], seq) } };
  }

  function hear({ write, seq }: (typeof pushes)[number]): void {
    if (write.kind === 'read') {
      const { others } = stateAt({ seq, read: { creator: seq, joiner: seq } }).read[write.side];
      states.advanceRead(chatNo, { memberNo: NUMBER_OF[write.side], seq, others });
      rise(write.side, seq);
      return;
    }
    const [senderNo, readCount] = [NUMBER_OF[write.side], write.present ? 0 : 1];
    const message = { chatNo, seq, senderNo, readCount, content: `${seq}`, contentType: 'text' };
    states.advance({ ...message, sendTime: seq } as MessagePayload);
    if (!known || seq <= known.seq) return;
    if (seq > known.seq + 1) {
      known = undefined;
      return;
    }
    known = { ...known, seq };
    if (write.present) rise(other(write.side), seq);
  }

  await load(after[0] as Numbers);
  const coming = [...pushes];
  for (const { kind, which } of taken) {
    if (kind === 'load') await load(after[which % after.length] as Numbers);
    else if (kind === 'repeat') hear(pushes[which % pushes.length] as (typeof pushes)[number]);
    else if (kind === 'push') coming.splice(which % Math.min(MAX_LATE, coming.length || 1), 1).forEach(hear);
    else {
      states.forget(chatNo);
      known = undefined;
    }
    const [state, expected] = [states.peek(chatNo), known && stateAt(known)];
    // Chai's own comparison takes a hundred times as long.
    if (!isDeepStrictEqual(state, expected)) expect(state).to.deep.equal(expected);
  }
  await load(after.at(-1) as Numbers);
  expect(states.peek(chatNo), 'in the end').to.deep.equal(stateAt(after.at(-1) as Numbers));
}

describe('a room’s state in memory', () => {
  it('has the largest of each number it was told, in whatever order it comes', () => {
    // A room of its own for each run: making the memory takes longer than a run.
    const database: Database = new Map();
    const states = createRoomStates(async () => database);
    const walkOnce = (all: Write[], taken: Step[]) => walk(states, database, all, taken);
    return fc.assert(fc.asyncProperty(writes, steps, walkOnce), { numRuns: 200 });
  });
});
