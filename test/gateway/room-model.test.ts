import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { createRoomStates, headOf, type RoomState, unreadOf } from '../../domain/chat/room-states.js';
import type { MessagePayload, ReadPosition, RoomHead, RoomMark, RoomView } from '../../domain/kernel/live.js';
import { RoomViews } from '../../gateway/room-views.js';
import { Sequencer } from '../../gateway/sequencer.js';

const CHAT = 7;
const CREATOR = 1;
const JOINER = 2;
const BOTH = [CREATOR, JOINER];
const partnerOf = (memberNo: number) => (memberNo === CREATOR ? JOINER : CREATOR);
const sideOf = (memberNo: number) => (memberNo === CREATOR ? ('creator' as const) : ('joiner' as const));

/** What some process writes to the room. */
interface Act {
  kind: 'send' | 'read';
  memberNo: number;
  /** Of a send: whether the recipient is there and reads it at once. */
  present: boolean;
  /** How far back the process is that writes: it does not know the newest of these writes of others. */
  behind: number;
}

/** What it tells the others about it. */
type Push =
  | { event: 'message'; payload: MessagePayload }
  | { event: 'message:read'; position: ReadPosition }
  | { event: 'room'; memberNo: number; view: RoomView; mark: RoomMark };

/** A room as the database has it after each of the writes. */
class Database {
  readonly messages: { seq: number; senderNo: number }[] = [];
  readonly reads = new Map(BOTH.map((memberNo) => [memberNo, 0]));
  readonly #history: { seq: number; reads: Map<number, number> }[] = [];

  sentBy = (memberNo: number, upTo = this.messages.length) =>
    this.messages.slice(0, upTo).filter(({ senderNo }) => senderNo === memberNo).length;

  position(memberNo: number, seq = this.reads.get(memberNo) as number): ReadPosition {
    return { memberNo, seq, others: this.sentBy(partnerOf(memberNo), seq) };
  }

  get head(): RoomHead {
    return {
      chatNo: CHAT,
      seq: this.messages.length,
      reads: BOTH.map((memberNo) => this.position(memberNo)),
    };
  }

  view(memberNo: number, seq = this.messages.length, read = this.reads.get(memberNo)) {
    const [sent, others] = [this.sentBy(partnerOf(memberNo), seq), this.position(memberNo, read).others];
    const latestMessage = { context: String(seq), sendAt: 0 };
    const view = { chatNo: CHAT, latestMessage, unReadCount: sent - others } as RoomView;
    return { view, mark: { seq, read: others } };
  }

  payload(seq: number): MessagePayload {
    const { senderNo } = this.messages[seq - 1] as { senderNo: number };
    const isRead = (this.reads.get(partnerOf(senderNo)) as number) >= seq;
    return { chatNo: CHAT, seq, senderNo, readCount: isRead ? 0 : 1 } as MessagePayload;
  }

  get state(): RoomState {
    const [creator, joiner] = BOTH.map((memberNo) => this.position(memberNo)) as [ReadPosition, ReadPosition];
    return {
      chatNo: CHAT,
      ...{ saleNo: 1, creator: CREATOR, joiner: JOINER, createdAt: new Date(0) },
      seq: this.messages.length,
      sent: { creator: this.sentBy(CREATOR), joiner: this.sentBy(JOINER) },
      read: {
        creator: { seq: creator.seq, others: creator.others },
        joiner: { seq: joiner.seq, others: joiner.others },
      },
    };
  }

  /** Writes, and returns what is told by a process that knows its own write and, of the others', not the last. */
  write({ kind, memberNo, present, behind }: Act): Push[] {
    const known = this.#history.at(-1 - behind) ?? { seq: 0, reads: new Map(BOTH.map((no) => [no, 0])) };
    const pushes: Push[] = [];
    let told = BOTH;
    let { seq } = known;
    const reads = new Map(known.reads);
    if (kind === 'send') {
      this.messages.push({ seq: this.messages.length + 1, senderNo: memberNo });
      // Its number was free, so it knew all messages before it.
      seq = this.messages.length;
      // Who is in the room has read what was there when they came in.
      const recipient = partnerOf(memberNo);
      if (present && this.position(recipient).others === this.sentBy(memberNo, seq - 1)) {
        this.reads.set(recipient, seq);
        reads.set(recipient, seq);
      }
      pushes.push({ event: 'message', payload: this.payload(seq) });
    } else {
      if (seq <= (this.reads.get(memberNo) as number)) return [];
      this.reads.set(memberNo, seq);
      reads.set(memberNo, seq);
      told = [memberNo];
      pushes.push({ event: 'message:read', position: this.position(memberNo) });
    }
    for (const no of told) pushes.push({ event: 'room', memberNo: no, ...this.view(no, seq, reads.get(no)) });
    this.#history.push({ seq: this.messages.length, reads: new Map(this.reads) });
    return pushes;
  }
}

/** What an app shows: its list as it read it when it connected, and what the events have made of it. */
class Client {
  readonly shown: MessagePayload[] = [];
  readonly reads = new Map(BOTH.map((memberNo) => [memberNo, 0]));
  element: RoomView;
  #told = false;
  readonly faults: string[] = [];

  readonly memberNo: number;

  constructor(memberNo: number, database: Database) {
    this.memberNo = memberNo;
    this.element = database.view(memberNo).view;
  }

  room(view: RoomView): void {
    const [before, now] = [this.element, view].map(({ latestMessage }) => Number(latestMessage?.context));
    if ((now as number) < (before as number)) this.faults.push(`room back from ${before} to ${now}`);
    const { unReadCount } = this.element;
    if (this.#told && now === before && view.unReadCount >= unReadCount)
      this.faults.push(`room ${now} again`);
    this.#told = true;
    this.element = view;
  }

  message(payload: MessagePayload): void {
    if (payload.seq !== this.shown.length + 1) this.faults.push(`${payload.seq} behind ${this.shown.length}`);
    this.shown.push(payload);
  }

  read({ memberNo, seq }: ReadPosition): void {
    if (seq > this.shown.length) this.faults.push(`read up to ${seq}, ahead of ${this.shown.length}`);
    if (seq <= (this.reads.get(memberNo) as number)) this.faults.push(`read back to ${seq}`);
    this.reads.set(memberNo, seq);
  }

  /** The numbers of the messages it shows as unread. */
  get unread(): number[] {
    return this.shown
      .filter(({ seq, senderNo, readCount }) => {
        return readCount > 0 && (this.reads.get(partnerOf(senderNo)) as number) < seq;
      })
      .map(({ seq }) => seq);
  }
}

/** Everything that was put off to a later turn of the loop has run. */
async function settled(): Promise<void> {
  for (let i = 0; i < 30; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** One gateway: both members have a socket here, which is in the room. */
class Gateway {
  readonly clients: Client[];
  readonly states;
  readonly #database: Database;
  readonly #views: RoomViews;
  readonly #sequencer: Sequencer;

  constructor(database: Database) {
    this.#database = database;
    this.clients = BOTH.map((memberNo) => new Client(memberNo, database));
    this.states = createRoomStates(async () => new Map([[CHAT, database.state]]));
    const logger = pino({ level: 'silent' });
    const later = () => new Promise((resolve) => setImmediate(resolve));
    this.#views = new RoomViews({
      async read(_chatNo, memberNo) {
        await later();
        return database.view(memberNo);
      },
      headsOf: async () => [database.head],
      isConnected: () => true,
      connected: () => BOTH,
      emit: (memberNo, view) => this.#show(memberNo, view),
      shared: true,
      logger,
    });
    const message = (payload: MessagePayload) => {
      for (const client of this.clients) client.message(payload);
    };
    const read = (position: ReadPosition) => {
      for (const client of this.clients) client.read(position);
    };
    this.#sequencer = new Sequencer({
      async read(_chatNo, after) {
        await later();
        return database.messages.slice(after).map(({ seq }) => database.payload(seq));
      },
      entering: () => {
        this.#views.follow(database.head);
        return database.head;
      },
      emit: message,
      emitRead: (_chatNo, position) => read(position),
      isOccupied: () => true,
      heard: this.states.advance,
      heardRead: this.states.advanceRead,
      filled() {},
      logger,
    });
    this.#hear = (push) => {
      if (push.event === 'message') {
        this.#sequencer.offer(push.payload, () => {
          this.states.advance(push.payload);
          message(push.payload);
        });
      } else if (push.event === 'message:read') {
        this.#sequencer.offerRead(CHAT, push.position, () => read(push.position));
      } else {
        this.#views.offer(push.memberNo, CHAT, push.mark, () => this.#show(push.memberNo, push.view));
      }
    };
  }

  readonly #hear: (push: Push) => void;

  #show(memberNo: number, view: RoomView): void {
    for (const client of this.clients) if (client.memberNo === memberNo) client.room(view);
  }

  async enter(): Promise<void> {
    await this.states.load(CHAT);
    await this.#sequencer.enter(CHAT, 'socket', async () => ({ seq: this.#database.messages.length }));
    await settled();
  }

  hear(push: Push): void {
    this.#hear(push);
  }

  compare(): void {
    this.#sequencer.compare(this.#database.head);
    this.#views.compare(this.#database.head);
  }

  /** That old state and events make the state of the database. */
  expectRight(): void {
    const { messages, reads } = this.#database;
    for (const client of this.clients) {
      expect(client.faults).to.deep.equal([]);
      expect(client.shown.map(({ seq }) => seq)).to.deep.equal(messages.map(({ seq }) => seq));
      expect(client.element, `room list of ${client.memberNo}`).to.deep.equal(
        this.#database.view(client.memberNo).view,
      );
      const unread = messages.filter(({ seq, senderNo }) => (reads.get(partnerOf(senderNo)) as number) < seq);
      expect(client.unread, 'messages shown as unread').to.deep.equal(unread.map(({ seq }) => seq));
    }
    const state = this.states.peek(CHAT);
    if (state) expect(headOf(state), 'in memory').to.deep.equal(this.#database.head);
  }
}

const acts = fc.array(
  fc.record({
    kind: fc.constantFrom('send' as const, 'send' as const, 'read' as const),
    memberNo: fc.constantFrom(...BOTH),
    present: fc.boolean(),
    behind: fc.nat(2),
  }),
  { minLength: 1, maxLength: 12 },
);

/** How a push travels: how often it comes, when, and whether anything is read from the database before the next. */
const ways = fc.array(
  fc.record({
    copies: fc.integer({ min: 1, max: 2 }),
    order: fc.nat(1_000),
    isLost: fc.boolean(),
    wait: fc.boolean(),
  }),
  { minLength: 40, maxLength: 40 },
);

/** Writes everything and lets the pushes travel. */
async function run(
  written: Act[],
  travelled: { copies: number; order: number; isLost: boolean; wait: boolean }[],
  mayLose: boolean,
): Promise<Gateway> {
  const database = new Database();
  const gateway = new Gateway(database);
  await gateway.enter();
  const pushes = written.flatMap((act) => database.write(act));
  const arriving = pushes
    .flatMap((push, i) => {
      const way = travelled[i % travelled.length] as (typeof travelled)[number];
      if (mayLose && way.isLost) return [];
      return Array.from({ length: way.copies }, (_, copy) => ({
        push,
        at: way.order + copy * 137,
        wait: way.wait,
      }));
    })
    .sort((a, b) => a.at - b.at);
  for (const { push, wait } of arriving) {
    gateway.hear(push);
    if (wait) await settled();
    for (const memberNo of BOTH) {
      const state = gateway.states.peek(CHAT);
      if (state) expect(unreadOf(state, sideOf(memberNo))).to.be.at.least(0);
    }
  }
  await settled();
  return gateway;
}

describe('a gateway that hears of two processes writing to one room', () => {
  it('has the state of the database once every push has come, in any order and repeated', () =>
    fc.assert(
      fc.asyncProperty(acts, ways, async (written, travelled) => {
        const gateway = await run(written, travelled, false);
        gateway.expectRight();
      }),
      { numRuns: 150 },
    ));

  it('has it after one comparison, whichever pushes were lost', () =>
    fc.assert(
      fc.asyncProperty(acts, ways, async (written, travelled) => {
        const gateway = await run(written, travelled, true);
        gateway.compare();
        await settled();
        gateway.expectRight();
      }),
      { numRuns: 150 },
    ));
});
