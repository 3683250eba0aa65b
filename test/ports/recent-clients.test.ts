import { expect } from 'chai';
import { createMemoryRecentClients } from '../../domain/chat/recent-clients.memory.js';
import { createRedisRecentClients } from '../../domain/chat/recent-clients.redis.js';
import { systemClock } from '../../domain/kernel/clock.js';
import { eventually } from '../support/eventually.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { inStoppedTime } from '../support/time.js';
import { recentClientsContract } from './recent-clients.contract.js';

recentClientsContract('memory', () => {
  let now = 1_000_000;
  return {
    recentClients: createMemoryRecentClients({ now: () => now }),
    recentFor: 30 * 60_000,
    async pass(ms) {
      now += ms;
    },
  };
});

describeOnRedis('recent clients on Redis', (connection) => {
  recentClientsContract('Redis', () => ({
    recentClients: createRedisRecentClients(connection(), systemClock, 400, 20),
    recentFor: 400,
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }));
});

describe('recent clients of several processes', () => {
  const client = { address: '203.0.113.7', userAgent: 'a browser' };
  const connections = openConnections();
  let server: TestRedis;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  afterEach(() => connections.close());

  it('are found by every process, last seen first', async () => {
    const [one, two] = [
      createRedisRecentClients(await connections.connect(server.url), systemClock),
      createRedisRecentClients(await connections.connect(server.url), systemClock),
    ];
    one.touch(client, 3);
    await eventually(async () => expect(await two.find(client)).deep.equal([3]));
    two.touch(client, 4);
    await eventually(async () => expect(await one.find(client)).deep.equal([4, 3]));
  });

  it('cost Redis one touch a minute for the same member', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis, systemClock);
    await redis.commands.config('RESETSTAT');
    for (let i = 0; i < 1_000; i += 1) clients.touch({ ...client, address: '203.0.113.8' }, 3);
    await clients.find({ ...client, address: '203.0.113.8' });
    const stats = await redis.commands.info('commandstats');
    expect(Number(/cmdstat_zadd:calls=(\d+)/.exec(stats)?.[1])).equal(1);
  });

  it('store neither addresses nor user agents in Redis, and expire there', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis, systemClock);
    clients.touch(client, 3);
    await clients.find(client);
    const keys = await redis.commands.keys('*');
    const own = keys.filter((key) => key.startsWith('adoption:bindings:'));
    expect(own).not.empty;
    expect(keys.join()).not.match(/203\.0|browser/);
    for (const key of own) expect(await redis.commands.pttl(key)).within(1, 30 * 60_000);
  });

  it('go on in each process while Redis is away, and are stored again if Redis has lost them', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis, systemClock);
    clients.touch(client, 3);
    await clients.find(client);
    const away = reaches(redis, 'down');
    await server.kill();
    await away;
    const before = performance.now();
    clients.touch(client, 4);
    expect(await clients.find(client)).deep.equal([4, 3]);
    expect(performance.now() - before).below(100);
    const back = reaches(redis, 'up');
    await server.restart();
    await back;
    const other = createRedisRecentClients(await connections.connect(server.url), systemClock);
    // Redis was touched with this member before, and has lost that, too.
    clients.touch(client, 3);
    await eventually(async () => expect(await other.find(client)).deep.equal([3]));
    expect(await clients.find(client)).deep.equal([3, 4]);
  });
});

describe('recent clients on a fake Redis', () => {
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
      get down() {
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
    return { redis, clients: createRedisRecentClients(connection as never, systemClock) };
  }

  it('touch Redis once a minute for the same member', () =>
    inStoppedTime(async (pass) => {
      const { redis, clients } = build();
      for (const [ms, asked] of [
        [0, 1],
        [59_000, 1],
        [2_000, 2],
      ] as const) {
        pass(ms);
        // The cache reads the clock at most once a millisecond.
        await new Promise((resolve) => setTimeout(resolve, 5));
        clients.touch(client, 3);
        expect(redis.asked).equal(asked);
      }
      clients.touch(client, 4);
      expect(redis.asked, 'another member at once: the order counts').equal(3);
    }));

  it('repeat a touch that failed, and skip Redis while it is away', async () => {
    const { redis, clients } = build();
    redis.fails = true;
    clients.touch(client, 3);
    await new Promise((resolve) => setImmediate(resolve));
    redis.fails = false;
    clients.touch(client, 3);
    expect(redis.asked).equal(2);
    redis.away = true;
    clients.touch(client, 4);
    expect(redis.asked).equal(2);
    redis.away = false;
    clients.touch(client, 4);
    expect(redis.asked).equal(3);
  });

  it('stop listening on close', () => {
    const { redis, clients } = build();
    expect(redis.listeners.size).equal(1);
    clients.close();
    expect(redis.listeners.size).equal(0);
  });

  it('touch again once Redis is back', () => {
    const { redis, clients } = build();
    clients.touch(client, 3);
    redis.listeners.get('up')?.();
    clients.touch(client, 3);
    expect(redis.asked).equal(2);
  });

  const clientOf = (i: number) => ({ address: `${i}`, userAgent: '' });

  it('remember 50,000 clients, in memory and as touched in Redis', async () => {
    const { redis, clients } = build();
    for (let i = 0; i <= 50_000; i += 1) clients.touch(clientOf(i), 3);
    redis.fails = true;
    expect(await clients.find(clientOf(0))).deep.equal([]);
    expect(await clients.find(clientOf(1))).deep.equal([3]);
    redis.asked = 0;
    clients.touch(clientOf(50_000), 3);
    expect(redis.asked).equal(0);
    clients.touch(clientOf(0), 3);
    expect(redis.asked).equal(1);
  });

  it('remember 100,000 clients in a single process', async () => {
    const clients = createMemoryRecentClients(systemClock);
    for (let i = 0; i <= 100_000; i += 1) clients.touch(clientOf(i), 3);
    expect(await clients.find(clientOf(0))).deep.equal([]);
    expect(await clients.find(clientOf(1))).deep.equal([3]);
  });
});
