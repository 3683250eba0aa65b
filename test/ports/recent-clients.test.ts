import { expect } from 'chai';
import { createMemoryRecentClients } from '../../domain/chat/recent-clients.memory.js';
import { createRedisRecentClients } from '../../domain/chat/recent-clients.redis.js';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, nextTurn, sleep } from '../support/eventually.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { type FakeTime, fakeTime, inStoppedTime } from '../support/time.js';
import { recentClientsContract } from './recent-clients.contract.js';

describe('recent clients of a single process', () => {
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(() => time.restore());

  recentClientsContract('memory', () => ({
    recentClients: createMemoryRecentClients(),
    recentFor: 30 * 60_000,
    pass: (ms) => time.pass(ms),
  }));
});

describeOnRedis('recent clients on Redis', (connection) => {
  recentClientsContract('Redis', () => ({
    recentClients: createRedisRecentClients(connection(), 400, 20),
    recentFor: 400,
    pass: sleep,
  }));
});

describe('recent clients of several processes', () => {
  const client = 'a client of several processes ';
  const opens = { rooms: [7] };
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
      createRedisRecentClients(await connections.connect(server.url)),
      createRedisRecentClients(await connections.connect(server.url)),
    ];
    one.touch(client, 3, opens);
    await eventually(async () => expect(await two.find(client, 7, [3, 4])).deep.equal([3]));
    two.touch(client, 4, opens);
    await eventually(async () => expect(await one.find(client, 7, [3, 4])).deep.equal([4, 3]));
  });

  it('cost Redis one touch a minute for the same member', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis);
    await redis.commands.config('RESETSTAT');
    for (let i = 0; i < 1_000; i += 1) clients.touch('polling ', 3, opens);
    await clients.find('polling ', 7, [3]);
    const stats = await redis.commands.info('commandstats');
    expect(Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])).equal(2);
  });

  it('expire in Redis', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis);
    clients.touch(client, 3, opens);
    await clients.find(client, 7, [3, 4]);
    const keys = await redis.commands.keys('*');
    const own = keys.filter((key) => key.startsWith('adoption:recent-clients:'));
    expect(own).not.empty;
    for (const key of own) expect(await redis.commands.pttl(key)).within(1, 30 * 60_000);
  });

  it('go on in each process while Redis is away, and are stored again if Redis has lost them', async () => {
    const redis = await connections.connect(server.url);
    const clients = createRedisRecentClients(redis);
    clients.touch(client, 3, opens);
    await clients.find(client, 7, [3, 4]);
    const away = reaches(redis, 'down');
    await server.kill();
    await away;
    const before = performance.now();
    clients.touch(client, 4, opens);
    expect(await clients.find(client, 7, [3, 4])).deep.equal([4, 3]);
    expect(performance.now() - before).below(100);
    const back = reaches(redis, 'up');
    await server.restart();
    await back;
    const other = createRedisRecentClients(await connections.connect(server.url));
    await eventually(async () => expect(await other.find(client, 7, [3, 4])).deep.equal([4, 3]));
  });
});

describe('recent clients that Redis has lost', () => {
  const client = 'a client that was lost ';
  const connections = openConnections();
  let server: TestRedis;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  afterEach(() => connections.close());

  it('are found by every process again, in their order, and for no longer than before', async () => {
    const [redis, another] = [await connections.connect(server.url), await connections.connect(server.url)];
    const [one, two] = [createRedisRecentClients(redis, 2_000), createRedisRecentClients(another, 2_000)];
    one.touch(client, 3, { rooms: [7] });
    one.touch(client, 5, { upTo: 9 });
    await sleep(50);
    two.touch(client, 4, { rooms: [7, 8] });
    await redis.commands.flushall();
    another.noteLoss();
    await eventually(async () => expect(await one.find(client, 7, [3, 4, 5])).deep.equal([4, 5, 3]));
    redis.noteLoss();
    await eventually(async () => expect(await two.find(client, 7, [3, 4, 5])).deep.equal([4, 5, 3]));
    const key = redisKeys.recentClients(client, 3);
    expect(await redis.commands.pttl(key)).within(1, 1_950);
  });
});

describe('recent clients on a fake Redis', () => {
  const client = 'a client ';
  const opens = { rooms: [7] };

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
    return { redis, clients: createRedisRecentClients(connection as never) };
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
        await sleep(5);
        clients.touch(client, 3);
        expect(redis.asked).equal(asked);
      }
      clients.touch(client, 4);
      expect(redis.asked, 'another member at once: the order counts').equal(3);
      clients.touch(client, 4, opens);
      expect(redis.asked, 'a room at once').equal(4);
      clients.touch(client, 4, opens);
      clients.touch(client, 4);
      expect(redis.asked).equal(4);
      clients.touch(client, 4, { rooms: [8] });
      clients.touch(client, 4, { upTo: 8 });
      expect(redis.asked).equal(6);
      for (const shown of [opens, { upTo: 8 }, { rooms: [8] }, { upTo: 7 }, { rooms: [7, 8] }])
        clients.touch(client, 4, shown);
      expect(redis.asked, 'a list and rooms in turn').equal(6);
      clients.touch(client, 4, { rooms: [8, 9] });
      expect(redis.asked).equal(7);
      pass(61_000);
      await sleep(5);
      clients.touch(client, 4, opens);
      expect(redis.asked, 'again after a minute').equal(8);
    }));

  it('tell Redis again of a room that it has forgotten for 100 later ones', () => {
    const { redis, clients } = build();
    for (let chatNo = 1; chatNo <= 101; chatNo += 1) clients.touch(client, 3, { rooms: [chatNo] });
    expect(redis.asked).equal(101);
    clients.touch(client, 3, { rooms: [1] });
    expect(redis.asked).equal(102);
  });

  it('repeat a touch that failed, and skip Redis while it is away', async () => {
    const { redis, clients } = build();
    redis.fails = true;
    clients.touch(client, 3);
    await nextTurn();
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
    expect([...redis.listeners.keys()]).deep.equal(['up', 'stores', 'lost']);
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

  const clientOf = (i: number) => `${i} `;

  it('remember 50,000 members at clients, in memory and as touched in Redis', async () => {
    const { redis, clients } = build();
    for (let i = 0; i <= 50_000; i += 1) clients.touch(clientOf(i), 3, opens);
    redis.fails = true;
    expect(await clients.find(clientOf(0), 7, [3])).deep.equal([]);
    expect(await clients.find(clientOf(1), 7, [3])).deep.equal([3]);
    redis.asked = 0;
    clients.touch(clientOf(50_000), 3, opens);
    expect(redis.asked).equal(0);
    clients.touch(clientOf(0), 3, opens);
    expect(redis.asked).equal(1);
  });

  it('remember 100,000 members at clients in a single process', async () => {
    const clients = createMemoryRecentClients();
    for (let i = 0; i <= 100_000; i += 1) clients.touch(clientOf(i), 3, opens);
    expect(await clients.find(clientOf(0), 7, [3])).deep.equal([]);
    expect(await clients.find(clientOf(1), 7, [3])).deep.equal([3]);
  });
});
