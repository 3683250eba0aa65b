import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Presence } from '../../domain/chat/presence/presence.js';
import { createMemoryPresence } from '../../domain/chat/presence/presence.memory.js';
import { createRedisPresence } from '../../domain/chat/presence/presence.redis.js';
import { redisChannels } from '../../domain/kernel/redis-keys.js';
import type { RedisConnection } from '../../domain/platform/redis.js';
import { eventually } from '../support/eventually.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { presenceContract } from './presence.contract.js';

/** In ms; everything takes a hundredth of what it takes in production. */
const TIMES = { lifetime: 300, refreshEvery: 60, grace: 50 };

presenceContract('memory', createMemoryPresence);

describeOnRedis('presence on Redis', (connection) => {
  presenceContract('Redis', () => createRedisPresence(connection(), TIMES));
});

/** One process of several: its port, what it was told, and ways to do it harm. */
interface Process {
  presence: Presence;
  redis: RedisConnection;
  told: [chatNo: number, memberNo: number, present: boolean][];
  /** What is asked of Redis gets no answer, as in a stopped process, which runs no timers either. */
  frozen: boolean;
}

describe('presence of several processes', () => {
  const connections = openConnections();
  let server: TestRedis;
  let processes: Process[] = [];
  let room = 0;

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

  async function start(): Promise<Process> {
    const redis = await connections.connect(server.url);
    const told: Process['told'] = [];
    const process: Process = { redis, told, frozen: false, presence: undefined as unknown as Presence };
    const ask: RedisConnection['ask'] = async (question) =>
      process.frozen ? undefined : redis.ask(question);
    // A copy would read `away` and `deaf` once: they are looked up in the original.
    process.presence = createRedisPresence(Object.setPrototypeOf({ ask }, redis), TIMES);
    process.presence.watch((...change) => told.push(change));
    processes.push(process);
    return process;
  }

  it('sees members wherever they are connected, until the last device has left', async () => {
    const [one, two] = [await start(), await start()];
    expect(await one.presence.enter(room, 3, 'phone')).equal(true);
    expect(await two.presence.enter(room, 3, 'laptop')).equal(false);
    expect(await two.presence.enter(room, 4, 'phone')).equal(true);
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    expect(await one.presence.leave(room, 3, 'phone')).equal(false);
    expect(await one.presence.isPresent(room, 3)).equal(true);
    expect(await two.presence.leave(room, 3, 'laptop')).equal(true);
    expect(await one.presence.isPresent(room, 3)).equal(false);
  });

  it('lasts as long as the process lives', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await new Promise((resolve) => setTimeout(resolve, TIMES.lifetime * 2));
    expect(await two.presence.isPresent(room, 3)).equal(true);
    expect(one.told).deep.equal([]);
  });

  it('ends after a process has died, and exactly one of the others announces it', async () => {
    const [dying, ...others] = [await start(), await start(), await start(), await start()];
    await dying?.presence.enter(room, 3, 'phone');
    for (const { presence } of others) await presence.enter(room, 4, 'phone');
    await dying?.redis.close();
    const all = () => others.flatMap(({ told }) => told);
    await eventually(() => expect(all()).deep.equal([[room, 3, false]]));
    await new Promise((resolve) => setTimeout(resolve, TIMES.refreshEvery * 3));
    expect(all()).deep.equal([[room, 3, false]]);
    expect(await others[0]?.presence.list(room)).deep.equal([4]);
  });

  it('does not end while another device of the member is elsewhere', async () => {
    const [dying, other] = [await start(), await start()];
    await dying.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 3, 'laptop');
    await dying.redis.close();
    await new Promise((resolve) => setTimeout(resolve, TIMES.lifetime + TIMES.refreshEvery * 3));
    expect(other.told).deep.equal([]);
    expect(await other.presence.list(room)).deep.equal([3]);
  });

  it('ends for a frozen process, and comes back with it', async () => {
    const [freezing, other] = [await start(), await start()];
    await freezing.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 4, 'phone');
    freezing.frozen = true;
    await eventually(() => expect(other.told).deep.equal([[room, 3, false]]));
    expect(await other.presence.isPresent(room, 3)).equal(false);
    freezing.frozen = false;
    await eventually(() => expect(freezing.told).deep.equal([[room, 3, true]]));
    expect(await other.presence.list(room)).deep.equal([3, 4]);
  });

  describe('in processes that are', () => {
    let child: ChildProcess;
    let told: unknown[];
    beforeEach(async () => {
      told = [];
      const program = fileURLToPath(new URL('../support/presence-process.js', import.meta.url));
      child = fork(program, [server.url, JSON.stringify(TIMES)]);
      await once(child, 'message');
      child.on('message', (message: { told?: unknown }) => message.told && told.push(message.told));
    });
    afterEach(() => {
      child.kill('SIGKILL');
    });

    /** The member enters in the child. */
    async function enter(memberNo: number): Promise<void> {
      child.send([room, memberNo, 'phone']);
      const [answer] = await once(child, 'message');
      expect(answer).deep.equal({ arrived: true });
    }

    it('killed: it ends', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      child.kill('SIGKILL');
      await eventually(() => expect(other.told).deep.equal([[room, 3, false]]));
      expect(await other.presence.list(room)).deep.equal([4]);
    });

    it('stopped: it ends, nobody waits, and it comes back with the process', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      child.kill('SIGSTOP');
      const before = performance.now();
      await other.presence.enter(room, 5, 'phone');
      expect(await other.presence.clear(room, 5)).equal(true);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      expect(performance.now() - before).below(100);
      await eventually(() => expect(other.told).deep.equal([[room, 3, false]]));
      child.kill('SIGCONT');
      await eventually(() => expect(told).deep.equal([[room, 3, true]]));
      expect(await other.presence.list(room)).deep.equal([3, 4]);
    });
  });

  it('takes a member out on every process', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    expect(await one.presence.clear(room, 3)).equal(true);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    await new Promise((resolve) => setTimeout(resolve, TIMES.refreshEvery * 3));
    expect(await one.presence.isPresent(room, 3)).equal(false);
    expect(await two.presence.leave(room, 3, 'laptop')).equal(false);
  });

  it('takes a member out from a process that has no connection of theirs', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    expect(await one.presence.clear(room, 3)).equal(true);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
  });

  it('takes a member out although the message to the other process is lost', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
  });

  it('keeps a device that entered after the member was taken out', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'old page');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    expect(await two.presence.enter(room, 3, 'new page')).equal(true);
    await new Promise((resolve) => setTimeout(resolve, TIMES.refreshEvery * 3));
    expect(await one.presence.isPresent(room, 3)).equal(true);
    expect(await two.presence.leave(room, 3, 'old page')).equal(false);
    expect(await two.presence.leave(room, 3, 'new page')).equal(true);
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
    expect(await one.presence.enter(room, 6, 'phone')).equal(true);
    expect(await one.presence.leave(room, 5, 'phone')).equal(true);
    expect(await one.presence.list(room)).deep.equal([3, 6]);
    expect(performance.now() - before).below(100);

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
      expect(told).not.deep.include([room, 3, false]);
      expect(told).not.deep.include([room, 4, false]);
    });
  });

  it('goes by the clock of Redis, whatever that of a process says', async () => {
    const [one, two] = [await start(), await start()];
    const { now } = Date;
    try {
      Date.now = () => now() + 3_600_000;
      await one.presence.enter(room, 3, 'phone');
      await new Promise((resolve) => setTimeout(resolve, TIMES.refreshEvery * 2));
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
