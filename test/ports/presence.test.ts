import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MemoryPresence } from '../../domain/chat/presence.memory.js';
import { RedisPresence } from '../../domain/chat/presence.redis.js';
import { redisChannels, redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, sleep } from '../support/eventually.js';
import { describeOnRedis } from '../support/redis.js';
import { presenceContract } from './presence.contract.js';
import {
  AT_ONCE_MS,
  publishedOf,
  refreshed,
  SHORT,
  TIMES,
  usePresenceProcesses,
} from './presence-processes.js';

presenceContract('memory', (openRooms) => new MemoryPresence(openRooms, TIMES.refreshEvery));

describeOnRedis('presence on Redis', (connection) => {
  presenceContract('Redis', (openRooms) => new RedisPresence(connection(), openRooms, TIMES));
});

describe('presence on several processes', () => {
  const { start, server } = usePresenceProcesses();
  let room = 5_000_000;
  beforeEach(() => {
    room += 1;
  });

  it('counts a member on any process, until their last connection leaves', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.enter(room, 4, 'phone');
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    await one.presence.leave(room, 3, 'phone');
    expect(one.published).deep.equal([[room, 3, true]]);
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'laptop');
    expect(two.published).deep.equal([
      [room, 4, true],
      [room, 3, false],
    ]);
    expect(await one.presence.isPresent(room, 3)).equal(false);
  });

  it('lasts while the process lives', async () => {
    const [one, two] = [await start(SHORT), await start(SHORT)];
    await one.presence.enter(room, 3, 'phone');
    await sleep(SHORT.lifetime * 2);
    expect(await two.presence.isPresent(room, 3)).equal(true);
    expect(one.published).deep.equal([[room, 3, true]]);
  });

  it('ends after a process has died; exactly one other process publishes it', async () => {
    const [dying, ...others] = [
      await start(SHORT),
      await start(SHORT),
      await start(SHORT),
      await start(SHORT),
    ];
    await dying?.presence.enter(room, 3, 'phone');
    for (const { presence } of others) await presence.enter(room, 4, 'phone');
    await dying?.redis.close();
    const all = () => others.flatMap((other) => publishedOf(other, 3));
    await eventually(() => expect(all()).deep.equal([[room, 3, false]]));
    await Promise.all(others.map(refreshed));
    expect(all()).deep.equal([[room, 3, false]]);
    expect(await others[0]?.presence.list(room)).deep.equal([4]);
  });

  it('does not end while the member is connected to another process', async () => {
    const [dying, other] = [await start(SHORT), await start(SHORT)];
    await dying.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 3, 'laptop');
    await dying.redis.close();
    await sleep(SHORT.lifetime + SHORT.refreshEvery * 3);
    expect(publishedOf(other, 3)).deep.equal([]);
    expect(await other.presence.list(room)).deep.equal([3]);
  });

  it('ends for a frozen process, and returns with it', async () => {
    const [freezing, other] = [await start(SHORT), await start(SHORT)];
    await freezing.presence.enter(room, 3, 'phone');
    await other.presence.enter(room, 4, 'phone');
    freezing.frozen = true;
    await eventually(() => expect(publishedOf(other, 3)).deep.equal([[room, 3, false]]));
    expect(await other.presence.isPresent(room, 3)).equal(false);
    freezing.frozen = false;
    await eventually(() =>
      expect(freezing.published).deep.equal([
        [room, 3, true],
        [room, 3, true],
      ]),
    );
    expect(freezing.versions[1]).above(other.versions.at(-1) as number);
    expect(await other.presence.list(room)).deep.equal([3, 4]);
  });

  describe('with processes of their own', () => {
    let child: ChildProcess;
    let published: unknown[];
    beforeEach(async () => {
      published = [];
      const program = fileURLToPath(new URL('./presence-process.js', import.meta.url));
      child = fork(program, [server().url, JSON.stringify(SHORT)]);
      await once(child, 'message');
      child.on(
        'message',
        (message: { published?: unknown }) => message.published && published.push(message.published),
      );
    });
    afterEach(() => {
      child.kill('SIGKILL');
    });

    /** The member enters in the child. */
    async function enter(memberNo: number): Promise<void> {
      child.send([room, memberNo, 'phone']);
      await eventually(() => expect(published).deep.equal([[room, memberNo, true]]));
    }

    it('ends for a killed process', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      child.kill('SIGKILL');
      await eventually(() => expect(publishedOf(other, 3)).deep.equal([[room, 3, false]]));
      expect(await other.presence.list(room)).deep.equal([4]);
    });

    it('ends for a stopped process without making others wait, and returns with it', async () => {
      const other = await start();
      await other.presence.enter(room, 4, 'phone');
      await enter(3);
      child.kill('SIGSTOP');
      const before = performance.now();
      await other.presence.enter(room, 5, 'laptop');
      await other.presence.clear(room, 5);
      expect(await other.presence.list(room)).deep.equal([3, 4]);
      expect(performance.now() - before).below(AT_ONCE_MS);
      await eventually(() => expect(publishedOf(other, 3)).deep.equal([[room, 3, false]]));
      child.kill('SIGCONT');
      await eventually(() =>
        expect(published).deep.equal([
          [room, 3, true],
          [room, 3, true],
        ]),
      );
      expect(await other.presence.list(room)).deep.equal([3, 4]);
    });
  });

  it('expires keys in Redis, but not while a frozen process may return', async () => {
    // Keys that stay would fill the memory of Redis; a mark that expires early lets a removed member return
    // with a frozen process.
    const times = { ...TIMES, lifetime: 5_000 };
    const [one, two] = [await start(times), await start(times)];
    const { commands } = one.redis;
    const key = redisKeys.presence(room);
    const longest = times.lifetime * 30;
    /** That the key was just given this lifetime, ms; on a busy machine a fifth of it may have passed. */
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

    // A mark that its process does not learn of expires with the key.
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

  it('uses the clock of Redis, not that of a process', async () => {
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
    // One call for each of the 256 room groups.
    expect((await count('zadd')) / (await count('evalsha'))).above(7);
    await redis.close();
  });
});
