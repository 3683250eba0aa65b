import { expect } from 'chai';
import { createMemoryRecentClients } from '../../domain/chat/recent-clients.memory.js';
import { createRedisRecentClients } from '../../domain/chat/recent-clients.redis.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { eventually, nextTurn } from '../support/eventually.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { inStoppedTime } from '../support/time.js';
import { bindingsContract } from './recent-clients.contract.js';

bindingsContract('memory', () => {
  let now = 1_000_000;
  return {
    bindings: createMemoryRecentClients({ now: () => now }),
    boundFor: 30 * 60_000,
    async pass(ms) {
      now += ms;
    },
  };
});

describeOnRedis('bindings on Redis', (connection) => {
  bindingsContract('Redis', () => ({
    bindings: createRedisRecentClients(connection(), systemClock, 400, 20),
    boundFor: 400,
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }));
});

describe('bindings of several processes', () => {
  const client = { address: '203.0.113.7', userAgent: 'a browser' };
  const connections = openConnections();
  let server: TestRedis;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  afterEach(() => connections.close());

  it('are found by every process, the latest seen anywhere first', async () => {
    const [one, two] = [
      createRedisRecentClients(await connections.connect(server.url), systemClock),
      createRedisRecentClients(await connections.connect(server.url), systemClock),
    ];
    one.touch(client, 3);
    await eventually(async () => expect(await two.find(client)).deep.equal([3]));
    two.touch(client, 4);
    await eventually(async () => expect(await one.find(client)).deep.equal([4, 3]));
  });

  it('cost Redis one touch a minute while the same member goes on', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisRecentClients(redis, systemClock);
    await redis.commands.config('RESETSTAT');
    for (let i = 0; i < 1_000; i += 1) bindings.touch({ ...client, address: '203.0.113.8' }, 3);
    await bindings.find({ ...client, address: '203.0.113.8' });
    const stats = await redis.commands.info('commandstats');
    expect(Number(/cmdstat_zadd:calls=(\d+)/.exec(stats)?.[1])).equal(1);
  });

  it('keep addresses and user agents out of Redis, and leave nothing behind there', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisRecentClients(redis, systemClock);
    bindings.touch(client, 3);
    await bindings.find(client);
    const keys = await redis.commands.keys('*');
    const own = keys.filter((key) => key.startsWith('adoption:bindings:'));
    expect(own).not.empty;
    expect(keys.join()).not.match(/203\.0|browser/);
    for (const key of own) expect(await redis.commands.pttl(key)).within(1, 30 * 60_000);
  });

  it('go on in each process while Redis is away, and are told anew to one that has lost them', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisRecentClients(redis, systemClock);
    bindings.touch(client, 3);
    await bindings.find(client);
    const away = reaches(redis, 'away');
    await server.kill();
    await away;
    const before = performance.now();
    bindings.touch(client, 4);
    expect(await bindings.find(client)).deep.equal([4, 3]);
    expect(performance.now() - before).below(100);
    const back = reaches(redis, 'back');
    await server.restart();
    await back;
    const other = createRedisRecentClients(await connections.connect(server.url), systemClock);
    // The one it was told of last: it has lost that, too.
    bindings.touch(client, 3);
    await eventually(async () => expect(await other.find(client)).deep.equal([3]));
    expect(await bindings.find(client)).deep.equal([3, 4]);
  });
});

describe('bindings on a Redis that answers what the test says', () => {
  const client = { address: '203.0.113.9', userAgent: 'a browser' };

  function build() {
    const redis = { away: false, asked: 0, fails: false, listeners: new Map<string, () => void>() };
    const commands = {
      evalsha: async () => {
        if (redis.fails) throw new Error('not now');
        return [];
      },
    };
    const connection = {
      get away() {
        return redis.away;
      },
      ask: (question: (client: typeof commands) => Promise<unknown>) => {
        redis.asked += 1;
        return question(commands).catch(() => undefined);
      },
      on: (event: string, listener: () => void) => {
        redis.listeners.set(event, listener);
        return () => redis.listeners.delete(event);
      },
    };
    return { redis, bindings: createRedisRecentClients(connection as never, systemClock) };
  }

  it('tell it of a member who goes on once a minute', () =>
    inStoppedTime(async (pass) => {
      const { redis, bindings } = build();
      for (const [ms, asked] of [
        [0, 1],
        [59_000, 1],
        [2_000, 2],
      ] as const) {
        pass(ms);
        // The cache looks at the time once a millisecond.
        await new Promise((resolve) => setTimeout(resolve, 5));
        bindings.touch(client, 3);
        expect(redis.asked).equal(asked);
      }
      bindings.touch(client, 4);
      expect(redis.asked, 'another one at once: the order counts').equal(3);
    }));

  it('tell it again what it did not take, and nothing while it is away', async () => {
    const { redis, bindings } = build();
    redis.fails = true;
    bindings.touch(client, 3);
    await nextTurn();
    redis.fails = false;
    bindings.touch(client, 3);
    expect(redis.asked).equal(2);
    redis.away = true;
    bindings.touch(client, 4);
    expect(redis.asked).equal(2);
    redis.away = false;
    bindings.touch(client, 4);
    expect(redis.asked).equal(3);
  });

  it('listen to it no longer once they are closed', () => {
    const { redis, bindings } = build();
    expect(redis.listeners.size).equal(1);
    bindings.close();
    expect(redis.listeners.size).equal(0);
  });

  it('tell it again what it may have lost while it was away', () => {
    const { redis, bindings } = build();
    bindings.touch(client, 3);
    redis.listeners.get('back')?.();
    bindings.touch(client, 3);
    expect(redis.asked).equal(2);
  });

  const clientOf = (i: number) => ({ address: `${i}`, userAgent: '' });

  it('are remembered of 50,000 clients, in each process and of what was told', async () => {
    const { redis, bindings } = build();
    for (let i = 0; i <= 50_000; i += 1) bindings.touch(clientOf(i), 3);
    redis.fails = true;
    expect(await bindings.find(clientOf(0))).deep.equal([]);
    expect(await bindings.find(clientOf(1))).deep.equal([3]);
    redis.asked = 0;
    bindings.touch(clientOf(50_000), 3);
    expect(redis.asked).equal(0);
    bindings.touch(clientOf(0), 3);
    expect(redis.asked).equal(1);
  });

  it('are remembered of 100,000 clients where a process is alone', async () => {
    const bindings = createMemoryRecentClients(systemClock);
    for (let i = 0; i <= 100_000; i += 1) bindings.touch(clientOf(i), 3);
    expect(await bindings.find(clientOf(0))).deep.equal([]);
    expect(await bindings.find(clientOf(1))).deep.equal([3]);
  });
});
