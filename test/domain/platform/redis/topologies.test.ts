import { expect } from 'chai';
import type { Cluster } from 'ioredis';
import { RedisPresence } from '../../../../domain/chat/presence.redis.js';
import { redisKeys } from '../../../../domain/kernel/redis-keys.js';
import { RedisDeliveryBus } from '../../../../domain/notifications/delivery-bus.redis.js';
import { budgets } from '../../../../domain/platform/rate-limits/rate-limits.js';
import { createRedisRateLimits } from '../../../../domain/platform/rate-limits/rate-limits.redis.js';
import type { RedisConnection } from '../../../../domain/platform/redis/connection.js';
import { delivery } from '../../../ports/delivery-bus.contract.js';
import { eventually } from '../../../support/eventually.js';
import { createOpenRooms } from '../../../support/open-rooms.js';
import { hasRedisServer, openConnections, reaches } from '../../../support/redis.js';
import { type RedisTopology, startCluster, startSentinel } from '../../../support/redis-topologies.js';

const connections = openConnections();

/** What is published in the two ways that the Socket.IO adapters use reaches another process. */
async function hearEachOther(from: RedisConnection, to: RedisConnection): Promise<void> {
  const heard: string[] = [];
  const subscriber = to.subscriber();
  subscriber.on('pmessageBuffer', (_pattern: string, _channel: Buffer, message: Buffer) => {
    heard.push(`pattern ${message}`);
  });
  subscriber.on('smessageBuffer', (_channel: Buffer, message: Buffer) => heard.push(`shard ${message}`));
  await subscriber.psubscribe('pattern*');
  for (const shard of ['one', 'two', 'three', 'four']) await subscriber.ssubscribe(shard);
  await eventually(async () => {
    await from.publisher().publish('pattern-1', 'all');
    for (const shard of ['one', 'two', 'three', 'four']) await from.publisher().spublish(shard, shard);
    expect(heard).include.members(['pattern all', 'shard one', 'shard two', 'shard three', 'shard four']);
  });
}

/** The ports work between two processes over it. */
async function sharePorts(one: RedisConnection, two: RedisConnection): Promise<void> {
  const times = { lifetime: 2_000, refreshEvery: 100, lookEvery: 120_000, grace: 0, latency: 0 };
  const [here, there] = [
    new RedisPresence(one, createOpenRooms(), times),
    new RedisPresence(two, createOpenRooms(), times),
  ];
  const rooms = Array.from({ length: 300 }, (_, i) => i + 1);
  await Promise.all(rooms.map((chatNo) => here.enter(chatNo, 3, 'phone')));
  expect(await Promise.all(rooms.map((chatNo) => there.isPresent(chatNo, 3)))).not.include(false);
  await here.close();
  expect(await Promise.all(rooms.map((chatNo) => there.isPresent(chatNo, 3)))).not.include(true);
  await there.close();

  const limits = createRedisRateLimits(one, budgets);
  await Promise.all(Array.from({ length: 20 }, (_, key) => limits.take('message', key)));

  const unheard = { delivered() {}, unsigned() {} };
  const [saying, hearing] = [new RedisDeliveryBus(one, unheard), new RedisDeliveryBus(two, unheard)];
  const heard: number[] = [];
  await hearing.subscribe(3, ({ n }) => heard.push(n)).ready;
  await eventually(() => {
    saying.publish(delivery(3, 1));
    expect(heard).include(1);
  });
}

describe('Redis Cluster', () => {
  let cluster: RedisTopology;
  before(async function () {
    if (!hasRedisServer) this.skip();
    cluster = await startCluster();
  });
  afterEach(() => connections.close());
  after(() => cluster?.stop());

  it('carries commands and both kinds of messages, whatever their slots', async () => {
    const [one, two] = [await connections.connect(cluster.url), await connections.connect(cluster.url)];
    await one.ping();
    await hearEachOther(one, two);
    await sharePorts(one, two);
  });

  it('is looked through for what one of its servers has lost', async () => {
    const [one, two] = [await connections.connect(cluster.url), await connections.connect(cluster.url)];
    const times = { lifetime: 120_000, refreshEvery: 60_000, lookEvery: 50, grace: 0, latency: 0 };
    const presence = new RedisPresence(one, createOpenRooms(), times);
    const rooms = Array.from({ length: 30 }, (_, i) => 1_001 + i);
    await Promise.all(rooms.map((chatNo) => presence.enter(chatNo, 3, 'phone')));
    const { commands } = two;
    for (const node of (commands as Cluster).nodes('master')) {
      await node.flushall();
      await eventually(async () => {
        const counts = await Promise.all(rooms.map((chatNo) => commands.zcard(redisKeys.presence(chatNo))));
        expect(counts).not.include(0);
      });
    }
    await presence.close();
  });

  it('may be unavailable as a whole', async () => {
    const redis = await connections.connect(cluster.url);
    const away = reaches(redis, 'down');
    for (const server of cluster.servers) server.pause();
    await away;
    expect(await redis.ask((commands) => commands.get('key'))).equal(undefined);
    expect(await redis.publisher().publish('plain', 'lost')).equal(0);
    const back = reaches(redis, 'up');
    for (const server of cluster.servers) server.resume();
    await back;
    await hearEachOther(redis, redis);
  });
});

describe('Redis Sentinel', () => {
  let sentinel: RedisTopology;
  before(async function () {
    if (!hasRedisServer) this.skip();
    sentinel = await startSentinel('pass-word');
  });
  afterEach(() => connections.close());
  after(() => sentinel?.stop());

  it('connects to the master, and to the new one after a failover', async () => {
    const [one, two] = [await connections.connect(sentinel.url), await connections.connect(sentinel.url)];
    await hearEachOther(one, two);
    await sharePorts(one, two);
    const back = Promise.all([reaches(one, 'up'), reaches(two, 'up')]);
    await sentinel.servers[0]?.kill();
    await back;
    await one.ask((commands) => commands.set('after', 'the failover'));
    expect(await two.ask((commands) => commands.get('after'))).equal('the failover');
    await hearEachOther(one, two);
  });
});
