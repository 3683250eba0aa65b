import { expect } from 'chai';
import type { Presence } from '../../../domain/chat/presence.js';
import { MemoryPresence } from '../../../domain/chat/presence.memory.js';
import { RedisPresence } from '../../../domain/chat/presence.redis.js';
import type { RedisConnection } from '../../../domain/platform/redis/connection.js';
import { createOpenRooms } from '../../support/open-rooms.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

/** Within this time members of a dead process are gone, ms. (contract, section 5) */
const PROMISED_MS = 30_000;

/** Within this time a connection receives a change whose push was lost, ms, including the grace. */
const RECEIVED_WITHIN_MS = 10_000;

/** Shortest interval between checks of all connections that costs a busy process little, ms. */
const MIN_INTERVAL_MS = 2_000;

const ROOM = 7;

/** A fake Redis that records the refreshes it receives: rooms and arguments. */
function fakeRedis() {
  const refreshed: {
    rooms: number;
    lifetime: number;
    keyLifetime: number;
    mayRemove: boolean;
    members: string[];
  }[] = [];
  const state = { isAway: false, isRefusing: false, refused: 0, subscribed: 0, listeners: 0 };
  const count = (what: 'subscribed' | 'listeners', by: 1 | -1) => () => {
    state[what] += by;
  };
  let back = () => {};
  let looks = 0;
  const commands = {
    /** Each answer says first that no data were lost. */
    async evalsha(_hash: string, keys: number, ...all: (string | number)[]): Promise<unknown> {
      if (state.isRefusing) {
        state.refused += 1;
        throw new Error('refused');
      }
      const [command, , lifetime, keyLifetime, mayRemove, ...members] = all.slice(keys);
      if (command === 'list') return [0, [0]];
      if (command === 'leave') return [0, 1];
      if (command !== 'refresh') return [0, [1, 0, 1]];
      refreshed.push({
        // The last key is the mark of the group.
        rooms: keys - 1,
        lifetime: Number(lifetime),
        keyLifetime: Number(keyLifetime),
        mayRemove: mayRemove === 1,
        // Without the version, and ages.
        members: members.map((room) => String(room).replace(/^\d+[=:]|@\d+/g, '')),
      });
      return [0, [[], []]];
    },
    /** The marks of all groups are there, and nothing is evicted. */
    set: async () => null,
    touch: async (...keys: string[]) => {
      looks += 1;
      return keys.length;
    },
    info: async () => 'evicted_keys:0\r\n',
  };
  const subscriber = {
    subscribe: count('subscribed', 1),
    unsubscribe: count('subscribed', -1),
  };
  const redis = {
    processId: 'me',
    ask: async (question: (given: typeof commands) => Promise<unknown>) =>
      state.isAway ? undefined : question(commands).catch(() => undefined),
    publish: async () => {},
    subscriber: () => subscriber,
    listen() {
      state.listeners += 1;
      return count('listeners', -1);
    },
    noteLoss() {},
    on(event: string, listener: () => void) {
      if (event === 'up') back = listener;
      state.listeners += 1;
      return count('listeners', -1);
    },
  } as unknown as RedisConnection;
  return { redis, refreshed, state, back: () => back(), looks: () => looks };
}

describe('presence over time', () => {
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
    presence = new RedisPresence(built.redis, openRooms);
    await presence.enter(ROOM, 3, 'phone');
    await time.pass(60_000);
    const takeRefreshed = () => built.refreshed.splice(0);
    return { ...built, presence, openRooms, takeRefreshed };
  }

  it('ends within 30 s of a process’s death, although a live one may lose two refreshes', async () => {
    const { takeRefreshed } = await start();
    takeRefreshed();
    await time.pass(60_000);
    const all = takeRefreshed();
    const every = 60_000 / all.length;
    const { lifetime, keyLifetime } = all[0] as (typeof all)[number];
    expect(lifetime + every).to.be.at.most(PROMISED_MS);
    expect(lifetime).to.be.above(3 * every);
    expect(every, 'a lost change is recovered').to.be.at.most(RECEIVED_WITHIN_MS);
    // A process may stand still for minutes; after an hour its rooms are forgotten.
    expect(keyLifetime).to.be.within(5 * 60_000, 3_600_000);
    for (const { mayRemove, members } of all)
      expect({ mayRemove, members }).to.deep.equal({ mayRemove: true, members: ['3'] });
  });

  it('removes nobody for some seconds after an interruption, and refreshes again after them', async () => {
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
    expect(settled.length, 'the other processes are back').to.be.at.least(1);
    expect(settled.at(-1)).to.include({ mayRemove: true });
    await time.pass(60_000);
    expect(takeRefreshed().every(({ mayRemove }) => mayRemove)).to.equal(true);
  });

  it('is looked for several times within the second in which it is to be there again', async () => {
    const { looks } = await start();
    const before = looks();
    await time.pass(7_000);
    expect(looks() - before).to.be.within(8, 20);
  });

  it('treats a standstill longer than a lifetime as an interruption', async () => {
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

  it('repeats a departure until Redis has confirmed it', async () => {
    const { presence, takeRefreshed, state } = await start();
    state.isAway = true;
    await presence.leave(ROOM, 3, 'phone');
    await presence.enter(ROOM, 4, 'laptop');
    await time.pass(20_000);
    state.isAway = false;
    takeRefreshed();
    await time.pass(20_000);
    const members = takeRefreshed().map((one) => one.members[0]);
    // The arrival with its age, ms.
    expect(members[0]).to.equal('+4,-3');
    expect(new Set(members.slice(1))).to.deep.equal(new Set(['4']));
  });

  it('forgets who was present in a room once nobody here is in it', async () => {
    const { presence, state } = await start();
    presence.accept(ROOM, 4, true, 1);
    state.isAway = true;
    expect(await presence.list(ROOM), 'as delivered here').to.deep.equal([3, 4]);
    await presence.leave(ROOM, 3, 'phone');
    await presence.enter(ROOM, 3, 'laptop');
    expect(await presence.list(ROOM)).to.deep.equal([3]);
  });

  it('refreshes at most a hundred rooms per call, and stops at the first failure', async () => {
    const { presence, takeRefreshed, state } = await start();
    for (let i = 1; i <= 250; i += 1) await presence.enter(ROOM + 256 * i, 3, 'phone');
    takeRefreshed();
    await time.pass(6_000);
    expect(takeRefreshed().map(({ rooms }) => rooms)).to.deep.equal([100, 100, 51]);
    state.isRefusing = true;
    await time.pass(6_000);
    expect(state.refused, 'the first failure stops the round').to.equal(1);
  });

  it('leaves no timers or listeners after close', async () => {
    const { presence, state, back, takeRefreshed } = await start();
    for (let i = 0; i < 2; i += 1) back();
    await time.pass(0);
    takeRefreshed();
    await presence.close();
    expect(takeRefreshed().map(({ members }) => members)).to.deep.equal([['-3']]);
    await presence.close();
    await time.pass(60_000);
    expect(takeRefreshed()).to.deep.equal([]);
    expect([state.subscribed, state.listeners]).to.deep.equal([0, 0]);
    expect(time.pending).to.equal(0);
  });

  it('ends within 30 s in a single process for a connection that left without notice', async () => {
    const openRooms = createOpenRooms();
    const { isInRoom } = openRooms;
    let looks = 0;
    openRooms.isInRoom = (...one) => {
      looks += 1;
      return isInRoom(...one);
    };
    presence = new MemoryPresence(openRooms);
    await presence.enter(ROOM, 3, 'phone');
    await time.pass(60_000);
    expect(await presence.list(ROOM)).to.deep.equal([3]);
    expect(looks).to.be.at.most(60_000 / MIN_INTERVAL_MS);
    openRooms.leave(ROOM, 'phone');
    await time.pass(PROMISED_MS);
    expect(await presence.list(ROOM)).to.deep.equal([]);
    await presence.close();
    expect(time.pending).to.equal(0);
  });
});
