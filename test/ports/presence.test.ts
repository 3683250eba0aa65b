import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Presence } from '../../domain/chat/presence.js';
import { createMemoryPresence } from '../../domain/chat/presence.memory.js';
import { createRedisPresence } from '../../domain/chat/presence.redis.js';
import { redisChannels, redisKeys } from '../../domain/kernel/redis-keys.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { eventually, sleep } from '../support/eventually.js';
import { createOpenRooms, type FakeRooms } from '../support/open-rooms.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { presenceContract } from './presence.contract.js';

/** In ms; all but what ends with its process takes a hundredth of what it takes in production. */
const TIMES = { lifetime: 30_000, refreshEvery: 60, grace: 50 };

/** For tests of presence that ends with its process; a process that stands still for longer is gone, too. */
const SHORT = { ...TIMES, lifetime: 1_000 };

/** Less than the timeout of a Redis command, ms: within it, nothing waited for a peer or for Redis. */
const AT_ONCE_MS = 900;

presenceContract('memory', (openRooms) => createMemoryPresence(openRooms, TIMES.refreshEvery));

describeOnRedis('presence on Redis', (connection) => {
  presenceContract('Redis', (openRooms) => createRedisPresence(connection(), openRooms, TIMES));
});

/** One process of several: its port, what it was told, and ways to do it harm. */
interface Process {
  presence: Presence;
  redis: RedisConnection;
  told: [chatNo: number, memberNo: number, present: boolean][];
  /** The versions of what it was told. */
  versions: number[];
  openRooms: FakeRooms;
  /** How many questions to Redis have come to an end. */
  asked: number;
  /** What is asked of Redis gets no answer, as in a stopped process, which runs no timers either. */
  frozen: boolean;
  /** What is asked of Redis is done, and its answers are lost. */
  deaf: boolean;
  /** What is asked of Redis meanwhile gets no answer, and that late. */
  late?: Promise<void>;
}

describe('presence of several processes', () => {
  const connections = openConnections();
  let server: TestRedis;
  let processes: Process[] = [];
  /** Far from the numbers by which a process hears whether its channel works. */
  let room = 5_000_000;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  beforeEach(() => {
    room += 1;
  });
  afterEach(async () => {
    await Promise.all(processes.map(({ presence }) => presence.close()));
    processes = [];
    await connections.close();
  });

  async function start(times = TIMES): Promise<Process> {
    const redis = await connections.connect(server.url);
    const process: Process = {
      ...{
        redis,
        told: [],
        versions: [],
        asked: 0,
        frozen: false,
        deaf: false,
        openRooms: createOpenRooms(),
      },
      presence: undefined as unknown as Presence,
    };
    const ask = redis.ask.bind(redis);
    redis.ask = async (question) => {
      const { late } = process;
      if (late) await late;
      const answer = process.frozen || late ? undefined : await ask(question);
      process.asked += 1;
      return process.deaf ? undefined : answer;
    };
    process.presence = createRedisPresence(redis, process.openRooms, times);
    process.presence.watch((chatNo, memberNo, present, version) => {
      process.told.push([chatNo, memberNo, present]);
      process.versions.push(version);
    });
    processes.push(process);
    return process;
  }

  /** Waits until a process has refreshed its rooms in Redis a few times. */
  async function refreshed(process: Process): Promise<void> {
    const before = process.asked;
    await eventually(() => expect(process.asked).above(before + 3));
  }

  /** What a process was told of a member. */
  const toldOf = ({ told }: Process, memberNo: number) => told.filter(([, no]) => no === memberNo);

  it('sees members wherever they are connected, until the last device has left', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.enter(room, 4, 'phone');
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    await one.presence.leave(room, 3, 'phone');
    expect(one.told).deep.equal([[room, 3, true]]);
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'laptop');
    expect(two.told).deep.equal([
      [room, 4, true],
      [room, 3, false],
    ]);
    expect(await one.presence.isPresent(room, 3)).equal(false);
  });

  it('lasts as long as the process lives', async () => {
    const [one, two] = [await start(SHORT), await start(SHORT)];
    await one.presence.enter(room, 3, 'phone');
    await sleep(SHORT.lifetime * 2);
    expect(await two.presence.isPresent(room, 3)).equal(true);
    expect(one.told).deep.equal([[room, 3, true]]);
  });

  it('ends after a process has died, and exactly one of the others announces it', async () => {
    const [dying, ...others] = [
      await start(SHORT),
      await start(SHORT),
      await start(SHORT),
      await start(SHORT),
    ];
    await dying?.presence.enter(room, 3, 'phone');
    for (const { presence } of others) await presence.enter(room, 4, 'phone');
    await dying?.redis.close();
    const all = () => others.flatMap((other) => toldOf(other, 3));
    await eventually(() => expect(all()).deep.equal([[room, 3, false]]));
    await Promise.all(others.map(refreshed));
    expect(all()).deep.equal([[room, 3, false]]);
    expect(await others[0]?.presence.list(room)).deep.equal([4]);
  });

  it('does not end while another device of the member is elsewhere', async () => {
    const [dying, other] = [await start(SHORT), await start(SHORT)];
    await dying.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 3, 'laptop');
    await dying.redis.close();
    await sleep(SHORT.lifetime + SHORT.refreshEvery * 3);
    expect(toldOf(other, 3)).deep.equal([]);
    expect(await other.presence.list(room)).deep.equal([3]);
  });

  it('ends for a frozen process, and comes back with it', async () => {
    const [freezing, other] = [await start(SHORT), await start(SHORT)];
    await freezing.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 4, 'phone');
    freezing.frozen = true;
    await eventually(() => expect(toldOf(other, 3)).deep.equal([[room, 3, false]]));
    expect(await other.presence.isPresent(room, 3)).equal(false);
    freezing.frozen = false;
    await eventually(() =>
      expect(freezing.told).deep.equal([
        [room, 3, true],
        [room, 3, true],
      ]),
    );
    expect(freezing.versions[1]).above(other.versions.at(-1) as number);
    expect(await other.presence.list(room)).deep.equal([3, 4]);
  });

  describe('in processes that are', () => {
    let child: ChildProcess;
    let told: unknown[];
    beforeEach(async () => {
      told = [];
      const program = fileURLToPath(new URL('./presence-process.js', import.meta.url));
      child = fork(program, [server.url, JSON.stringify(SHORT)]);
      await once(child, 'message');
      child.on('message', (message: { told?: unknown }) => message.told && told.push(message.told));
    });
    afterEach(() => {
      child.kill('SIGKILL');
    });

    /** The member enters in the child. */
    async function enter(memberNo: number): Promise<void> {
      child.send([room, memberNo, 'phone']);
      await eventually(() => expect(told).deep.equal([[room, memberNo, true]]));
    }

    it('killed: it ends', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      child.kill('SIGKILL');
      await eventually(() => expect(toldOf(other, 3)).deep.equal([[room, 3, false]]));
      expect(await other.presence.list(room)).deep.equal([4]);
    });

    it('stopped: it ends, nobody waits, and it comes back with the process', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      child.kill('SIGSTOP');
      const before = performance.now();
      await other.presence.enter(room, 5, 'laptop');
      await other.presence.clear(room, 5);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      expect(performance.now() - before).below(AT_ONCE_MS);
      await eventually(() => expect(toldOf(other, 3)).deep.equal([[room, 3, false]]));
      child.kill('SIGCONT');
      await eventually(() =>
        expect(told).deep.equal([
          [room, 3, true],
          [room, 3, true],
        ]),
      );
      expect(await other.presence.list(room)).deep.equal([3, 4]);
    });
  });

  it('takes a member out on every process, and tells it once', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(one.openRooms.takenOut).deep.equal([[room, 'phone']]);
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
    await two.presence.leave(room, 3, 'laptop');
    await sleep(TIMES.refreshEvery * 3);
    expect(await one.presence.isPresent(room, 3)).equal(false);
    expect([...one.told, ...two.told]).deep.equal([
      [room, 3, true],
      [room, 3, false],
    ]);
  });

  it('takes a member out from a process that has no connection of theirs, at once', async () => {
    // The next refresh is too far away to do it.
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    expect(one.told).deep.equal([[room, 3, false]]);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
  });

  it('hears nothing in what is said to its process about something else', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const process = await start(times);
    await process.presence.enter(room, 3, 'laptop');
    const [subscriber, before] = [process.redis.subscriber(), process.asked];
    const [elsewhere, said] = ['something else', ['no number', String(room)]];
    await subscriber.subscribe(elsewhere);
    const heard: string[] = [];
    subscriber.on('messageBuffer', (from, message) => {
      if (String(from) === elsewhere) heard.push(String(message));
    });
    for (const text of said) await process.redis.commands.publish(elsewhere, text);
    await eventually(() => expect(heard).deep.equal(said));
    expect(await process.presence.list(room)).deep.equal([3]);
    // The list itself.
    expect(process.asked).equal(before + 1);
  });

  it('takes a member out although the message to the other process is lost', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
  });

  it('tells once of a member who leaves while they are being taken out', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await two.presence.leave(room, 3, 'laptop');
    expect(one.told).deep.equal([[room, 3, false]]);
    expect(two.told).deep.equal([[room, 3, true]]);
  });

  it('keeps a device that entered after the member was taken out', async () => {
    // The new page’s presence stayed, and the page itself was taken out of the room with the old one: its
    // messages counted as read and never came.
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'old page');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await two.presence.enter(room, 3, 'new page');
    await refreshed(two);
    expect(two.openRooms.takenOut).deep.equal([[room, 'old page']]);
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'old page');
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'new page');
    expect(await one.presence.isPresent(room, 3)).equal(false);
  });

  it('has one order of changes, whichever processes make them', async () => {
    const [one, two, dying] = [await start(SHORT), await start(SHORT), await start(SHORT)];
    const versions: number[] = [];
    for (const { presence } of [one, two])
      presence.watch((...[, no, , version]) => no === 3 && versions.push(version));
    await one.presence.enter(room, 4, 'watcher');
    await one.presence.enter(room, 3, 'phone');
    await one.presence.leave(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.leave(room, 3, 'laptop');
    await dying.presence.enter(room, 3, 'tablet');
    await dying.redis.close();
    await eventually(() => expect(versions).length(7));
    await two.presence.enter(room, 3, 'laptop');
    versions.splice(6, 0, dying.versions[0] as number);
    expect(versions).deep.equal([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).equal(versions.length);
  });

  it('takes in a change unless it is known, or a later one of the member is', async () => {
    const one = await start();
    await one.presence.enter(room, 3, 'phone');
    await one.presence.leave(room, 3, 'phone');
    await one.presence.enter(room, 3, 'phone');
    const [entered, left, back] = one.versions as [number, number, number];
    expect(one.presence.heard(room, 3, true, back)).equal(true);
    expect(one.presence.heard(room, 3, true, back)).equal(false);
    expect(one.presence.heard(room, 3, false, left)).equal(false);
    expect(one.presence.heard(room, 3, true, entered)).equal(false);
    // Each member in each room has an order of its own.
    expect(one.presence.heard(room, 4, false, left)).equal(true);
    expect(one.presence.heard(room + 1_000_000, 3, false, left)).equal(true);
  });

  /** Waits past the time in which nobody is taken for gone. */
  const settled = () => sleep(TIMES.grace * 2);

  it('tells the connections of a process what it has not heard of, once', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    expect(await one.presence.list(room)).deep.equal([3]);
    await two.presence.enter(room, 4, 'laptop');
    await eventually(() => expect(one.openRooms.toldHere).deep.equal([[room, 4, true]]));
    // Its push comes late.
    expect(one.presence.heard(room, 4, true, two.versions[0] as number)).equal(false);
    await two.presence.leave(room, 4, 'laptop');
    await eventually(() => expect(one.openRooms.toldHere.slice(1)).deep.equal([[room, 4, false]]));
    await refreshed(one);
    expect(one.openRooms.toldHere).length(2);
  });

  it('tells nothing again that was heard', async () => {
    // The next refresh is too far away: one between a change and its push would rightly tell it first.
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    await eventually(async () => {
      const [, count] = await one.redis.commands.pubsub('NUMSUB', redisChannels.presenceCleared);
      expect(Number(count), 'both are subscribed').equal(2);
    });
    /** Every process with somebody in the room refreshes it, once: one still under way later would tell, too. */
    async function refresh(...all: Process[]): Promise<void> {
      const before = all.map(({ asked }) => asked);
      await one.redis.commands.publish(redisChannels.presenceCleared, String(room));
      await eventually(() => {
        for (const [i, { asked }] of all.entries()) expect(asked).above(before[i] as number);
      });
    }
    for (const process of [one, two]) {
      process.presence.watch((...change) => {
        for (const { presence } of [one, two]) presence.heard(...change);
      });
    }
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await two.presence.enter(room, 4, 'laptop');
    await two.presence.list(room);
    await settled();
    await refresh(one, two);
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    await two.presence.leave(room, 4, 'laptop');
    await refresh(one);
    expect([...one.openRooms.toldHere, ...two.openRooms.toldHere]).deep.equal([]);
  });

  it('finds out that a member is gone whose process and Redis ended together', async () => {
    // Nobody was left who knew that they had been there: they stayed present on every screen.
    const [one, dying] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await dying.presence.enter(room, 4, 'laptop');
    one.presence.heard(room, 4, true, dying.versions[0] as number);
    await dying.redis.close();
    const away = reaches(one.redis, 'away');
    await server.kill();
    await away;
    await server.restart();
    await eventually(() => expect(one.openRooms.toldHere.at(-1)).deep.equal([room, 4, false]));
    expect(toldOf(one, 4)).deep.equal([]);
  });

  it('lists those last heard of while Redis is away', async () => {
    // Who came in then saw the other party as absent, and was told nothing when Redis was back.
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 4, 'laptop');
    one.presence.heard(room, 4, true, two.versions[0] as number);
    one.frozen = true;
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    // It is for the list alone: whether a message was seen is known by who is there.
    expect(await one.presence.isPresent(room, 4)).equal(false);
  });

  it('orders what a process tells without Redis behind all it has heard, and before all that Redis orders later', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.leave(room, 3, 'laptop');
    const left = two.versions.at(-1) as number;
    one.presence.heard(room, 3, false, left);
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    expect(one.told).deep.equal([[room, 3, true]]);
    expect(one.versions[0]).above(left);
    await one.presence.leave(room, 3, 'phone');
    expect(one.versions[1]).above(one.versions[0] as number);
    await two.presence.enter(room, 3, 'laptop');
    expect(two.versions.at(-1)).above(one.versions[1] as number);
  });

  it('ends for a connection that is gone, although what Redis answered when it entered was lost', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 4, 'phone');
    one.deaf = true;
    await one.presence.enter(room, 3, 'phone');
    expect(await two.presence.list(room)).deep.equal([3, 4]);
    one.openRooms.leave(room, 'phone');
    one.deaf = false;
    await eventually(async () => expect(await two.presence.list(room)).deep.equal([4]));
    // Redis forgets them before the answer that it did is here.
    await eventually(() => expect(one.told.at(-1)).deep.equal([room, 3, false]));
  });

  it('tells again of a coming or going whose answer from Redis was lost', async () => {
    // Others may have heard of a later change than this process has, and drop what it tells by itself.
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.leave(room, 3, 'laptop');
    const left = two.versions.at(-1) as number;
    one.deaf = true;
    await one.presence.enter(room, 3, 'phone');
    expect(one.versions[0]).below(left);
    one.deaf = false;
    await eventually(() => expect(one.versions.at(-1)).above(left));
    const entered = one.versions.at(-1) as number;
    one.deaf = true;
    await one.presence.leave(room, 3, 'phone');
    one.deaf = false;
    await eventually(() => expect(one.versions.at(-1)).above(entered + 1));
    expect(one.told.slice(-2)).deep.equal([
      [room, 3, false],
      [room, 3, false],
    ]);
  });

  it('goes on with what a process knows itself while Redis is away, and says it all on return', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.enter(room, 5, 'phone');
    await two.presence.enter(room, 4, 'phone');
    const away = Promise.all([reaches(one.redis, 'away'), reaches(two.redis, 'away')]);
    await server.kill();
    await away;

    const before = performance.now();
    expect(await one.presence.isPresent(room, 3)).equal(true);
    expect(await one.presence.isPresent(room, 4)).equal(false);
    const toldBefore = one.told.length;
    await one.presence.enter(room, 6, 'phone');
    await one.presence.leave(room, 5, 'phone');
    expect(one.told.splice(0).slice(toldBefore)).deep.equal([
      [room, 6, true],
      [room, 5, false],
    ]);
    expect(await one.presence.list(room)).deep.equal([3, 6]);
    expect(performance.now() - before).below(AT_ONCE_MS);

    const back = Promise.all([reaches(one.redis, 'back'), reaches(two.redis, 'back')]);
    await server.restart();
    await back;
    await eventually(async () => expect(await two.presence.list(room)).deep.equal([3, 4, 6]));
    // Those whose coming or going nobody could be told of are announced now, nobody as gone by mistake.
    await eventually(() => {
      const told = [...one.told, ...two.told];
      expect(told).deep.include.members([
        [room, 6, true],
        [room, 5, false],
      ]);
      for (const memberNo of [3, 4, 6]) expect(told).not.deep.include([room, memberNo, false]);
    });
  });

  it('does not take the members of others for gone as long as those may come back after an interruption', async () => {
    const [one, dying] = [await start({ ...SHORT, grace: 60_000 }), await start(SHORT)];
    await one.presence.enter(room, 3, 'phone');
    await dying.presence.enter(room, 4, 'laptop');
    await dying.redis.close();
    const { commands } = one.redis;
    await eventually(async () => {
      const [seconds, micros] = await commands.time();
      const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
      expect(Number(await commands.zscore(redisKeys.presence(room), `4:${dying.redis.processId}`))).below(
        now,
      );
    });
    await refreshed(one);
    expect(toldOf(one, 4)).deep.equal([]);
    // The entry is there, for whoever is sure of it.
    const sure = await start(SHORT);
    await sure.presence.enter(room, 5, 'tablet');
    await eventually(() => expect(toldOf(sure, 4)).deep.equal([[room, 4, false]]));
  });

  it('has a member who came back after a going that could not be confirmed', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 4, 'tablet');
    await one.presence.enter(room, 3, 'phone');
    one.told.length = 0;
    one.deaf = true;
    await one.presence.leave(room, 3, 'phone');
    await one.presence.enter(room, 3, 'new page');
    one.deaf = false;
    await refreshed(one);
    expect(await two.presence.list(room)).deep.equal([3, 4]);
    expect(one.told, 'told alone, and once when Redis answers').deep.equal([
      [room, 3, false],
      [room, 3, true],
      [room, 3, true],
    ]);
  });

  it('does not tell of a going that Redis did not answer and that is over', async () => {
    const one = await start();
    await one.presence.enter(room, 3, 'phone');
    let answer = () => {};
    one.late = new Promise((resolve) => {
      answer = resolve;
    });
    const leaving = one.presence.leave(room, 3, 'phone');
    delete one.late;
    await one.presence.enter(room, 3, 'new page');
    answer();
    await leaving;
    await refreshed(one);
    expect(one.told).not.deep.include([room, 3, false]);
    expect(await one.presence.list(room)).deep.equal([3]);
  });

  it('leaves no key in Redis for ever, and keeps one as long as a frozen process may come back', async () => {
    // Rooms that were opened once would fill the memory of Redis; marks that end early let a member who was
    // taken out come back with a process that was frozen.
    const times = { ...TIMES, lifetime: 5_000 };
    const [one, two] = [await start(times), await start(times)];
    const { commands } = one.redis;
    const key = redisKeys.presence(room);
    const longest = times.lifetime * 30;
    /** That the key was just given this time, in ms; a fifth of it may have gone by on a busy machine. */
    const expectEnds = async (within: number) =>
      expect(await commands.pttl(key)).within(within * 0.8, within);

    await one.presence.enter(room, 3, 'phone');
    await expectEnds(longest);
    await two.presence.enter(room, 3, 'laptop');
    await commands.persist(key);
    await one.presence.enter(room, 4, 'tablet');
    await expectEnds(longest);
    await commands.persist(key);
    await eventually(() => expectEnds(longest));
    await commands.persist(key);
    await one.presence.leave(room, 4, 'tablet');
    await expectEnds(longest);

    // A mark for a process that does not hear of it ends with the key.
    two.frozen = true;
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await commands.persist(key);
    await one.presence.clear(room, 3);
    await expectEnds(longest);
    const [[seconds, micros], ends] = await Promise.all([
      commands.time(),
      commands.zscore(key, `!3:${two.redis.processId}`),
    ]);
    const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
    expect(Number(ends) - now).within(longest * 0.8, longest);
    two.frozen = false;
    await eventually(() => expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]));

    await commands.del(key);
    await one.presence.enter(room, 5, 'watch');
    await one.presence.leave(room, 5, 'watch');
    expect(await commands.pttl(key), 'of an empty room').within(1, times.lifetime);
  });

  it('goes by the clock of Redis, whatever that of a process says', async () => {
    const [one, two] = [await start(), await start()];
    const { now } = Date;
    try {
      Date.now = () => now() + 3_600_000;
      await one.presence.enter(room, 3, 'phone');
      await refreshed(one);
      expect(await two.presence.isPresent(room, 3)).equal(true);
      Date.now = () => now() - 3_600_000;
      expect(await two.presence.isPresent(room, 3)).equal(true);
    } finally {
      Date.now = now;
    }
  });

  it('refreshes thousands of rooms in few calls', async () => {
    const { presence, redis } = await start();
    const rooms = Array.from({ length: 2_000 }, (_, i) => 10_000 + i);
    await Promise.all(rooms.map((chatNo) => presence.enter(chatNo, 3, 'phone')));
    await redis.commands.config('RESETSTAT');
    const count = async (command: string) => {
      const stats = await redis.commands.info('commandstats');
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    };
    await eventually(async () => expect(await count('zadd')).at.least(rooms.length));
    // One call for each of the 256 groups the rooms are in.
    expect((await count('zadd')) / (await count('evalsha'))).above(7);
    await redis.close();
  });
});
