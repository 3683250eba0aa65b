import { expect } from 'chai';
import { createMemoryBindings } from '../../domain/chat/bindings/bindings.memory.js';
import { createRedisBindings } from '../../domain/chat/bindings/bindings.redis.js';
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
import { bindingsContract } from './bindings.contract.js';

bindingsContract('memory', () => {
  let now = 1_000_000;
  return {
    bindings: createMemoryBindings({ now: () => now }),
    boundFor: 30 * 60_000,
    async pass(ms) {
      now += ms;
    },
  };
});

describeOnRedis('bindings on Redis', (connection) => {
  bindingsContract('Redis', () => ({
    bindings: createRedisBindings(connection(), systemClock, 400, 20),
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
      createRedisBindings(await connections.connect(server.url), systemClock),
      createRedisBindings(await connections.connect(server.url), systemClock),
    ];
    one.touch(client, 3);
    await eventually(async () => expect(await two.find(client)).deep.equal([3]));
    two.touch(client, 4);
    await eventually(async () => expect(await one.find(client)).deep.equal([4, 3]));
  });

  it('cost Redis one touch a minute while the same member goes on', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisBindings(redis, systemClock);
    await redis.commands.config('RESETSTAT');
    for (let i = 0; i < 1_000; i += 1) bindings.touch({ ...client, address: '203.0.113.8' }, 3);
    await bindings.find({ ...client, address: '203.0.113.8' });
    const stats = await redis.commands.info('commandstats');
    expect(Number(/cmdstat_zadd:calls=(\d+)/.exec(stats)?.[1])).equal(1);
  });

  it('keep addresses and user agents out of Redis', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisBindings(redis, systemClock);
    bindings.touch(client, 3);
    await bindings.find(client);
    const keys = await redis.commands.keys('*');
    expect(keys.some((key) => key.startsWith('adoption:bindings:'))).equal(true);
    expect(keys.join()).not.match(/203\.0|browser/);
  });

  it('go on in each process while Redis is away, and are told anew to one that has lost them', async () => {
    const redis = await connections.connect(server.url);
    const bindings = createRedisBindings(redis, systemClock);
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
    bindings.touch(client, 4);
    const other = createRedisBindings(await connections.connect(server.url), systemClock);
    await eventually(async () => expect(await other.find(client)).deep.equal([4]));
    expect(await bindings.find(client)).deep.equal([4, 3]);
  });
});
