import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { other, type Side } from '../../../domain/chat/room.model.js';
import { createRoomStates, type RoomState, type RoomStates } from '../../../domain/chat/room-states.js';
import type { MessagePayload } from '../../../domain/kernel/live.js';
import { roomState } from '../../support/chat.js';

const NUMBER_OF = { creator: 1, joiner: 2 };

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
