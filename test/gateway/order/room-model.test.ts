import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { createRoomStates, headOf, unreadOf } from '../../../domain/chat/room-states.js';
import type { MessagePayload, ReadPosition, RoomView } from '../../../domain/kernel/live.js';
import { RoomViews } from '../../../gateway/order/room-views.js';
import { Sequencer } from '../../../gateway/order/sequencer.js';
import { nextTurn } from '../../support/eventually.js';
import { type Act, BOTH, CHAT, Client, Database, type Push, partnerOf, sideOf } from './room-model.js';

/** Runs everything that was deferred to a later turn of the event loop. */
const settled = () => nextTurn(30);

/** A gateway with a socket of both members in the room. */
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
    this.#views = new RoomViews({
      async read(_chatNo, memberNo) {
        await nextTurn();
        return database.view(memberNo);
      },
      headsOf: async () => [database.head],
      isConnected: () => true,
      connected: () => BOTH,
      emit: (memberNo, view) => this.#show(memberNo, view),
      shared: true,
      intervalMs: 0,
      logger,
    });
    this.#sequencer = new Sequencer({
      async read(_chatNo, after) {
        await nextTurn();
        return database.messages.slice(after).map(({ seq }) => database.payload(seq));
      },
      entering: () => {
        this.#views.follow(database.head);
        return database.head;
      },
      emit: (payload) => this.#deliver(payload),
      emitRead: (_chatNo, position) => this.#deliverRead(position),
      isOccupied: () => true,
      noteMessage: this.states.advance,
      noteRead: this.states.advanceRead,
      filled() {},
      logger,
    });
  }

  #deliver(payload: MessagePayload): void {
    for (const client of this.clients) client.message(payload);
  }

  #deliverRead(position: Pick<ReadPosition, 'memberNo' | 'seq'>): void {
    for (const client of this.clients) client.read(position);
  }

  #show(memberNo: number, view: RoomView): void {
    for (const client of this.clients) if (client.memberNo === memberNo) client.room(view);
  }

  async enter(): Promise<void> {
    await this.states.load(CHAT);
    await this.#sequencer.enter(CHAT, 'socket', async () => ({ seq: this.#database.messages.length }));
    await settled();
  }

  hear(push: Push): void {
    if (push.event === 'message') {
      this.#sequencer.offer(push.payload, () => {
        this.states.advance(push.payload);
        this.#deliver(push.payload);
      });
    } else if (push.event === 'message:read') {
      this.#sequencer.offerRead(CHAT, push.position, () => this.#deliverRead(push.position));
    } else {
      const { memberNo, view, mark } = push;
      this.#sequencer.offerChange(CHAT, () =>
        this.#views.offer(memberNo, view, mark, (merged) => this.#show(memberNo, merged)),
      );
    }
  }

  compare(): void {
    this.#sequencer.compare(this.#database.head);
    this.#views.compare(this.#database.head);
  }

  /** Fails unless the state at the start and the events add up to the state of the database. */
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

/** How a push arrives: how often, when, whether at all, and whether reads complete before the next one. */
const ways = fc.array(
  fc.record({
    copies: fc.integer({ min: 1, max: 2 }),
    order: fc.nat(1_000),
    isLost: fc.boolean(),
    wait: fc.boolean(),
  }),
  { minLength: 40, maxLength: 40 },
);

/** Performs the writes, and delivers their pushes. @param mayLose drops the pushes that are marked as lost */
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

describe('a gateway that receives pushes of two processes for one room', () => {
  it('reaches the state of the database when every push has arrived, in any order and repeated', () =>
    fc.assert(
      fc.asyncProperty(acts, ways, async (written, travelled) => {
        (await run(written, travelled, false)).expectRight();
      }),
      { numRuns: 150 },
    ));

  it('reaches it after one comparison, whichever pushes were lost', () =>
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
