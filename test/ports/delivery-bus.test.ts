import { mock } from 'node:test';
import { expect } from 'chai';
import { redisChannels } from '../../domain/kernel/redis-keys.js';
import type { Delivery, DeliveryBus } from '../../domain/notifications/delivery-bus.js';
import { createMemoryDeliveryBus } from '../../domain/notifications/delivery-bus.memory.js';
import { RedisDeliveryBus } from '../../domain/notifications/delivery-bus.redis.js';
import { metrics } from '../../domain/platform/metrics.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { eventually } from '../support/eventually.js';
import { memoryTaken } from '../support/memory.js';
import {
  describeOnRedis,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { delivery, wakeUpsContract } from './delivery-bus.contract.js';

wakeUpsContract('memory', createMemoryDeliveryBus);

describe('wake-ups in memory', () => {
  it('keep nothing of members who listen no more', async () => {
    const wakeUps = createMemoryDeliveryBus();
    expect(await memoryTaken(20_000, (i) => wakeUps.subscribe(i, () => {}).end())).below(1_000_000);
    wakeUps.close();
  });
});

describeOnRedis('wake-ups on Redis', (connection) => {
  wakeUpsContract('Redis', () => new RedisDeliveryBus(connection()));
});

describe('wake-ups of several processes', () => {
  const connections = openConnections();
  let server: TestRedis;
  let redis: RedisConnection;
  let one: DeliveryBus;
  let two: DeliveryBus;
  let heard: Delivery[];

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    heard = [];
    redis = await connections.connect(server.url);
    one = new RedisDeliveryBus(redis);
    two = new RedisDeliveryBus(await connections.connect(server.url));
  });
  afterEach(() => connections.close());

  const numbers = () => heard.map(({ n }) => n);
  const listen = (wakeUps: DeliveryBus) => wakeUps.subscribe(3, (d) => heard.push(d));

  /** Numbers of the subscriptions that Redis has of wake-ups. */
  const channels = () => redis.commands.pubsub('CHANNELS', redisChannels.deliveries('*' as never));

  it('reach listeners of another process, whole and in order', async () => {
    await listen(two).ready;
    for (let n = 1; n <= 20; n += 1) one.publish(delivery(3, n));
    await eventually(() => expect(heard).lengthOf(20));
    expect(heard).deep.equal(Array.from({ length: 20 }, (_, i) => delivery(3, i + 1)));
  });

  it('stay in the process where they are meant to', async () => {
    await listen(two).ready;
    one.publishHere(delivery(3, 1));
    one.publish(delivery(3, 2));
    await eventually(() => expect(numbers()).deep.equal([2]));
  });

  it('are subscribed to while somebody listens, and no longer', async () => {
    const [first, second] = [listen(two), listen(two)];
    await second.ready;
    expect(await channels()).deep.equal([redisChannels.deliveries(3)]);
    first.end();
    first.end();
    two.publish(delivery(3, 1));
    one.publish(delivery(3, 2));
    await eventually(() => expect(numbers()).deep.equal([1, 2]));
    second.end();
    await eventually(async () => expect(await channels()).deep.equal([]));
  });

  it('are ready as soon as they are subscribed to', async () => {
    // The time after which a listener goes on without its subscription never comes.
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      await listen(two).ready;
    } finally {
      mock.timers.reset();
    }
    expect(await channels()).deep.equal([redisChannels.deliveries(3)]);
  });

  it('do not let a listener wait longer than a second where Redis is frozen', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    server.pause();
    try {
      let isReady = false;
      const ready = listen(two).ready.then(() => {
        isReady = true;
      });
      mock.timers.tick(999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(isReady).equal(false);
      mock.timers.tick(1);
      await ready;
    } finally {
      server.resume();
      mock.timers.reset();
    }
  });

  it('are subscribed to anew where Redis has refused once', async () => {
    const refused = mock.method(redis.subscriber(), 'subscribe', async () => {
      throw new Error('refused');
    });
    await one.subscribe(3, () => {}).ready;
    refused.mock.restore();
    await listen(one).ready;
    two.publish(delivery(3, 1));
    await eventually(() => expect(numbers()).deep.equal([1]));
  });

  it('hear nothing any more when they are closed, and let go of their channels', async () => {
    const listeners = () => redis.subscriber().listenerCount('messageBuffer');
    const before = listeners();
    const three = new RedisDeliveryBus(redis);
    await three.subscribe(3, () => {}).ready;
    expect(listeners()).equal(before + 1);
    three.close();
    expect(listeners()).equal(before);
    await eventually(async () => expect(await channels()).deep.equal([]));
  });

  it('drop and count what is malformed', async () => {
    await listen(two).ready;
    const dropped = async () => (await metrics.redisMessagesDropped.get()).values[0]?.value ?? 0;
    const before = await dropped();
    const good = { from: 'x', delivery: delivery(3, 1) };
    const malformed = [
      '',
      'null',
      '{"from":"x"',
      '\u0000\uffff',
      JSON.stringify({ ...good, from: 7 }),
      JSON.stringify({ ...good, delivery: { ...good.delivery, n: 'all' } }),
      JSON.stringify({ ...good, delivery: { ...good.delivery, memberNo: 4 } }),
      JSON.stringify({
        ...good,
        delivery: { ...good.delivery, view: { ...good.delivery.view, publishedAt: [] } },
      }),
      JSON.stringify({ ...good, delivery: { ...good.delivery, view: 'x'.repeat(3_000_000) } }),
    ];
    for (const text of malformed) await redis.publisher().publish(redisChannels.deliveries(3), text);
    one.publish(delivery(3, 2));
    await eventually(() => expect(numbers()).deep.equal([2]));
    expect((await dropped()) - before).equal(malformed.length);
  });

  it('go on within a process while Redis is away, and between them when it is back', async () => {
    const other = (await connections.connect(server.url)) as RedisConnection;
    const three = new RedisDeliveryBus(other);
    const leaving = three.subscribe(4, () => {});
    await leaving.ready;
    await listen(three).ready;
    const away = Promise.all([reaches(redis, 'away'), reaches(other, 'away')]);
    await server.kill();
    await away;
    three.publish(delivery(3, 1));
    expect(numbers()).deep.equal([1]);
    // Nobody waits for a subscription that cannot stand.
    await three.subscribe(5, (d) => heard.push(d)).ready;
    leaving.end();
    one.publish(delivery(3, 2));

    const back = Promise.all([reaches(redis, 'back'), reaches(other, 'back')]);
    await server.restart();
    await back;
    await eventually(async () =>
      expect((await channels()) as string[]).members([
        redisChannels.deliveries(3),
        redisChannels.deliveries(5),
      ]),
    );
    one.publish(delivery(5, 3));
    one.publish(delivery(3, 4));
    // The second was published into the outage: it is in the database, and no stale burst follows.
    await eventually(() => expect(numbers()).deep.equal([1, 3, 4]));
  });
});
