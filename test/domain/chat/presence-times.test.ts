import { expect } from 'chai';
import type { Presence } from '../../../domain/chat/presence.js';
import { createMemoryPresence } from '../../../domain/chat/presence.memory.js';
import { createRedisPresence } from '../../../domain/chat/presence.redis.js';
import type { RedisConnection } from '../../../domain/platform/redis/connection.js';
import { createOpenRooms } from '../../support/open-rooms.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

/** Within which, in ms, those of a dead process are gone. (contract, section 5) */
const PROMISED_MS = 30_000;

/** After which, in ms, a connection hears of what its process has not: an interruption's grace included. */
const TOLD_WITHIN_MS = 10_000;

/** Looks at all connections no nearer to each other than this, in ms, cost a busy process little. */
const SPARING_MS = 2_000;

const ROOM = 7;

/** A Redis that takes everything, and keeps what it was asked to refresh: rooms and arguments. */
function fakeRedis() {
  const refreshed: {
    rooms: number;
    lifetime: number;
    keyLifetime: number;
    mayRemove: boolean;
    members: string[];
  }[] = [];
  const state = { isAway: false, subscribed: 0, listeners: 0 };
  const count = (what: 'subscribed' | 'listeners', by: 1 | -1) => () => {
    state[what] += by;
  };
  let back = () => {};
  const commands = {
    async evalsha(_hash: string, rooms: number, ...all: (string | number)[]): Promise<unknown> {
      const [first, ...args] = all.slice(rooms);
      if (first === undefined) return [0];
      if (first !== 'me') return [1, 0, 1];
      const [lifetime, keyLifetime, mayRemove, ...members] = args;
      refreshed.push({
        ...{ rooms, lifetime: Number(lifetime), keyLifetime: Number(keyLifetime) },
        ...{ mayRemove: mayRemove === 1, members: members.map(String) },
      });
      return [[], Array.from({ length: rooms }, () => [0])];
    },
  };
  const subscriber = {
    on: count('listeners', 1),
    off: count('listeners', -1),
    subscribe: count('subscribed', 1),
    unsubscribe: count('subscribed', -1),
  };
  const redis = {
    processId: 'me',
    ask: async (question: (given: typeof commands) => Promise<unknown>) =>
      state.isAway ? undefined : question(commands),
    subscriber: () => subscriber,
    on(_event: string, listener: () => void) {
      back = listener;
      state.listeners += 1;
      return count('listeners', -1);
    },
  } as unknown as RedisConnection;
  return { redis, refreshed, state, back: () => back() };
}

describe('presence in time', () => {
  let time: FakeTime;
  let presence: Presence | undefined;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(async () => {
    await presence?.close();
    time.restore();
  });

  /** Presence on Redis as it is in production, past the grace of its start. */
  async function start() {
    const built = fakeRedis();
    const openRooms = createOpenRooms();
    presence = createRedisPresence(built.redis, openRooms);
    await presence.enter(ROOM, 3, 'phone');
    await time.pass(60_000);
    const takeRefreshed = () => built.refreshed.splice(0);
    return { ...built, presence, openRooms, takeRefreshed };
  }

  it('ends within 30 s of a process’s death, though two refreshes of a live one may be lost', async () => {
    const { takeRefreshed } = await start();
    takeRefreshed();
    await time.pass(60_000);
    const all = takeRefreshed();
    const every = 60_000 / all.length;
    const { lifetime, keyLifetime } = all[0] as (typeof all)[number];
    expect(lifetime + every).to.be.at.most(PROMISED_MS);
    expect(lifetime).to.be.above(3 * every);
    expect(every, 'a changed room is made good').to.be.at.most(TOLD_WITHIN_MS);
    // A process may stand still for minutes; an hour later its rooms are forgotten.
    expect(keyLifetime).to.be.within(5 * 60_000, 3_600_000);
    for (const { mayRemove, members } of all)
      expect({ mayRemove, members }).to.deep.equal({ mayRemove: true, members: ['3'] });
  });

  it('removes nobody for some seconds after an interruption, and looks again behind them', async () => {
    const { takeRefreshed, back } = await start();
    await time.pass(1_000);
    takeRefreshed();
    back();
    await time.pass(0);
    expect(
      takeRefreshed().map(({ mayRemove }) => mayRemove),
      'at once',
    ).to.deep.equal([false]);
    await time.pass(2_000);
    back();
    await time.pass(2_500);
    takeRefreshed();
    await time.pass(2_600);
    const settled = takeRefreshed();
    expect(settled.length, 'the others are back').to.be.at.least(1);
    expect(settled.at(-1)).to.include({ mayRemove: true });
    await time.pass(60_000);
    expect(takeRefreshed().every(({ mayRemove }) => mayRemove)).to.equal(true);
  });

  it('takes having stood still longer than its entries live for an interruption', async () => {
    const { takeRefreshed } = await start();
    takeRefreshed();
    time.skip(19_000);
    await time.pass(6_000);
    expect(takeRefreshed().every(({ mayRemove }) => mayRemove)).to.equal(true);
    time.skip(21_000);
    await time.pass(1);
    expect(takeRefreshed().map(({ mayRemove }) => mayRemove)).to.deep.equal([false]);
    await time.pass(60_000);
    expect(takeRefreshed().at(-1)).to.include({ mayRemove: true });
  });

  it('says again a going that Redis did not take, until it has', async () => {
    const { presence, takeRefreshed, state } = await start();
    state.isAway = true;
    await presence.leave(ROOM, 3, 'phone');
    await presence.enter(ROOM, 4, 'laptop');
    await time.pass(20_000);
    state.isAway = false;
    takeRefreshed();
    await time.pass(20_000);
    const members = takeRefreshed().map((one) => one.members[0]);
    expect(members[0]).to.equal('+4,-3');
    expect(new Set(members.slice(1))).to.deep.equal(new Set(['4']));
  });

  it('of a room that nobody here was in meanwhile is not told as it was before', async () => {
    const { presence, state } = await start();
    presence.heard(ROOM, 4, true, 1);
    state.isAway = true;
    expect(await presence.list(ROOM), 'what those here were told').to.deep.equal([3, 4]);
    await presence.leave(ROOM, 3, 'phone');
    await presence.enter(ROOM, 3, 'laptop');
    expect(await presence.list(ROOM)).to.deep.equal([3]);
  });

  it('refreshes at most a hundred rooms of one group in a call, and rests while Redis is away', async () => {
    const { presence, takeRefreshed, state } = await start();
    for (let i = 1; i <= 250; i += 1) await presence.enter(ROOM + 256 * i, 3, 'phone');
    takeRefreshed();
    await time.pass(6_000);
    expect(takeRefreshed().map(({ rooms }) => rooms)).to.deep.equal([100, 100, 51]);
    let asked = 0;
    Object.defineProperty(state, 'isAway', { get: () => ++asked > 0 });
    await time.pass(6_000);
    expect(asked, 'the first that fails speaks for all').to.equal(1);
  });

  it('leaves nothing behind', async () => {
    const { presence, state, back, takeRefreshed } = await start();
    for (let i = 0; i < 2; i += 1) back();
    await time.pass(0);
    takeRefreshed();
    await presence.close();
    expect(takeRefreshed().map(({ members }) => members)).to.deep.equal([['-3']]);
    await presence.close();
    await time.pass(60_000);
    expect(takeRefreshed()).to.deep.equal([]);
    expect({ ...state, pending: time.pending }).to.deep.equal({
      ...{ isAway: false, subscribed: 0, listeners: 0, pending: 0 },
    });
  });

  it('of one process ends within 30 s for a connection that is gone without a word', async () => {
    const openRooms = createOpenRooms();
    const { isInRoom } = openRooms;
    let looks = 0;
    openRooms.isInRoom = (...one) => {
      looks += 1;
      return isInRoom(...one);
    };
    presence = createMemoryPresence(openRooms);
    await presence.enter(ROOM, 3, 'phone');
    await time.pass(60_000);
    expect(await presence.list(ROOM)).to.deep.equal([3]);
    expect(looks).to.be.at.most(60_000 / SPARING_MS);
    openRooms.leave(ROOM, 'phone');
    await time.pass(PROMISED_MS);
    expect(await presence.list(ROOM)).to.deep.equal([]);
    await presence.close();
    expect(time.pending).to.equal(0);
  });
});
