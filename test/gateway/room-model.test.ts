import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { createRoomStates, headOf, unreadOf } from '../../domain/chat/room-states.js';
import type { MessagePayload, ReadPosition, RoomView } from '../../domain/kernel/live.js';
import { RoomViews } from '../../gateway/room-views.js';
import { Sequencer } from '../../gateway/sequencer.js';
import { type Act, BOTH, CHAT, Client, Database, type Push, partnerOf, sideOf } from './room-model.js';

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
      noteMessage: this.states.advance,
      noteRead: this.states.advanceRead,
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
