import { mock } from 'node:test';
import { expect } from 'chai';
import { redisChannels } from '../../domain/kernel/redis-keys.js';
import type { Delivery, DeliveryBus } from '../../domain/notifications/delivery-bus.js';
import { MemoryDeliveryBus } from '../../domain/notifications/delivery-bus.memory.js';
import { RedisDeliveryBus } from '../../domain/notifications/delivery-bus.redis.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { eventually, nextTurn } from '../support/eventually.js';
import { memoryTaken } from '../support/memory.js';
import {
  describeOnRedis,
  droppedMessages,
  hasRedisServer,
  openConnections,
  reaches,
  startRedis,
  type TestRedis,
} from '../support/redis.js';
import { delivery, deliveryBusContract } from './delivery-bus.contract.js';

const unheard = { delivered() {}, unsigned() {} };

deliveryBusContract('memory', () => new MemoryDeliveryBus());

describe('delivery bus in memory', () => {
  it('keeps nothing of members without listeners', async () => {
    const bus = new MemoryDeliveryBus();
    expect(await memoryTaken(20_000, (i) => bus.subscribe(i, () => {}).end())).below(1_000_000);
    bus.close();
  });
});

describeOnRedis('delivery bus on Redis', (connection) => {
  deliveryBusContract('Redis', () => new RedisDeliveryBus(connection(), unheard));
});

describe('delivery bus of several processes', () => {
  const connections = openConnections();
  let server: TestRedis;
  let redis: RedisConnection;
  let one: DeliveryBus;
  let two: DeliveryBus;
  let received: Delivery[];

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    received = [];
    redis = await connections.connect(server.url);
    one = new RedisDeliveryBus(redis, unheard);
    two = new RedisDeliveryBus(await connections.connect(server.url), unheard);
  });
  afterEach(() => connections.close());

  const numbers = () => received.map(({ n }) => n);
  const listen = (bus: DeliveryBus) => bus.subscribe(3, (d) => received.push(d));

  /** The delivery channels that Redis has subscriptions of. */
  const channels = () => redis.commands.pubsub('CHANNELS', redisChannels.deliveries('*' as never));

  it('reaches listeners of another process, complete and in order', async () => {
    await listen(two).ready;
    for (let n = 1; n <= 20; n += 1) one.publish(delivery(3, n));
    await eventually(() => expect(received).lengthOf(20));
    expect(received).deep.equal(Array.from({ length: 20 }, (_, i) => delivery(3, i + 1)));
  });

  it('keeps local deliveries within the process', async () => {
    await listen(two).ready;
    one.publishHere(delivery(3, 1));
    one.publish(delivery(3, 2));
    await eventually(() => expect(numbers()).deep.equal([2]));
  });

  it('subscribes while somebody listens, and no longer', async () => {
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

  it('is ready as soon as Redis confirms the subscription', async () => {
    // Time stands still: only the confirmation can make it ready.
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      await listen(two).ready;
    } finally {
      mock.timers.reset();
    }
    expect(await channels()).deep.equal([redisChannels.deliveries(3)]);
  });

  it('is ready after a second if Redis is frozen', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    server.pause();
    try {
      let isReady = false;
      const ready = listen(two).ready.then(() => {
        isReady = true;
      });
      mock.timers.tick(999);
      await nextTurn();
      expect(isReady).equal(false);
      mock.timers.tick(1);
      await ready;
    } finally {
      server.resume();
      mock.timers.reset();
    }
  });

  it('subscribes again after Redis has refused', async () => {
    const refused = mock.method(redis.subscriber(), 'subscribe', async () => {
      throw new Error('refused');
    });
    await one.subscribe(3, () => {}).ready;
    refused.mock.restore();
    await listen(one).ready;
    two.publish(delivery(3, 1));
    await eventually(() => expect(numbers()).deep.equal([1]));
  });

  it('unsubscribes and stops listening on close', async () => {
    const listeners = () => redis.subscriber().listenerCount('messageBuffer');
    const before = listeners();
    const three = new RedisDeliveryBus(redis, unheard);
    await three.subscribe(3, () => {}).ready;
    expect(listeners()).equal(before + 1);
    three.close();
    expect(listeners()).equal(before);
    await eventually(async () => expect(await channels()).deep.equal([]));
  });

  it('drops and counts malformed messages', async () => {
    await listen(two).ready;
    const dropped = () => droppedMessages('malformed', 'too-large');
    const before = await dropped();
    const good = delivery(3, 1);
    const malformed = [
      '',
      'null',
      '{"n":1',
      '\u0000\uffff',
      JSON.stringify({ ...good, n: 'all' }),
      JSON.stringify({ ...good, memberNo: 4 }),
      JSON.stringify({ ...good, view: { ...good.view, publishedAt: [] } }),
      JSON.stringify({ ...good, view: 'x'.repeat(3_000_000) }),
    ];
    for (const text of malformed) await redis.publish(redisChannels.deliveries(3), text);
    one.publish(delivery(3, 2));
    await eventually(() => expect(numbers()).deep.equal([2]));
    expect((await dropped()) - before).equal(malformed.length);
  });

  it('only announces what is not signed', async () => {
    let announced = 0;
    const [saying, hearing] = [
      await connections.connect(server.url, ''),
      await connections.connect(server.url, ''),
    ];
    const bus = new RedisDeliveryBus(hearing, {
      delivered() {},
      unsigned() {
        announced += 1;
      },
    });
    await listen(bus).ready;
    new RedisDeliveryBus(saying, unheard).publish(delivery(3, 1));
    await eventually(() => expect(announced).equal(1));
    bus.publish(delivery(3, 2));
    expect(numbers()).deep.equal([2]);
  });

  it('goes on within a process while Redis is away, and across processes once it is back', async () => {
    const other = (await connections.connect(server.url)) as RedisConnection;
    const three = new RedisDeliveryBus(other, unheard);
    const leaving = three.subscribe(4, () => {});
    await leaving.ready;
    await listen(three).ready;
    const away = Promise.all([reaches(redis, 'down'), reaches(other, 'down')]);
    await server.kill();
    await away;
    three.publish(delivery(3, 1));
    expect(numbers()).deep.equal([1]);
    // Ready at once: no subscription is possible now.
    await three.subscribe(5, (d) => received.push(d)).ready;
    leaving.end();
    one.publish(delivery(3, 2));

    const back = Promise.all([reaches(redis, 'up'), reaches(other, 'up')]);
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
    // The delivery published during the outage is dropped: no burst of old ones follows.
    await eventually(() => expect(numbers()).deep.equal([1, 3, 4]));
  });
});
