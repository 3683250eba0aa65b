import { expect } from 'chai';
import { Redis } from 'ioredis';
import { redisChannels } from '../../../domain/kernel/redis-keys.js';
import { unreadOf } from '../../support/chat.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { eventually, sleep } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { isReady, metric } from '../../support/rest.js';
import { connect } from '../../support/sockets.js';
import type { ChatClient } from './chat-client.js';
import { type Load, useChatClients } from './load.js';
import { itMakesLostPushesGood } from './lost-pushes.js';
import { itFeedsStreams } from './streams.js';

/** Length of the outage, s. */
const OUTAGE_S = Number(process.env.REDIS_OUTAGE_S ?? 4);

(hasRedisServer ? describe : describe.skip)('a Redis that fails', function () {
  this.timeout(120_000 + 2_000 * OUTAGE_S);
  let cluster: Cluster;
  let admin: Redis;
  const clients = useChatClients();

  before(async () => {
    cluster = await startCluster({ http: 2, gateways: 2 });
  });
  after(async () => {
    const faults = cluster?.faults();
    await cluster?.stop();
    expect(faults).to.deep.equal([]);
  });
  beforeEach(() => {
    admin = new Redis(cluster.redis.port, '127.0.0.1', { maxRetriesPerRequest: null });
    // A test cuts this connection along with the service's; it reconnects by itself.
    admin.on('error', () => undefined);
  });
  afterEach(async () => {
    admin.disconnect();
    for (const { name, running } of cluster.processes) expect(running, `${name} lives`).to.equal(true);
    await cluster.ready();
    await expectPromptDelivery();
  });

  /** Pushes arrive through Redis again, and not only by the comparison with the database. */
  async function expectPromptDelivery(): Promise<void> {
    const { author, asker, chatNo } = await cluster.openRoom();
    const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
    await Promise.all([one.join(chatNo), two.join(chatNo)]);
    const start = performance.now();
    for (const content of ['1', '2', '3', '4']) {
      await one.send(chatNo, content);
      await two.next<{ content: string }>('message', (message) => message.content === content);
    }
    expect(performance.now() - start, 'four messages, faster than a comparison').to.be.below(4_000);
  }

  const gateway = (i: number) => cluster.gateways[i] as string;

  const client = (name: string, who: ChatClient['who'], on: number) =>
    clients.open(name, who, () => gateway(on));

  /** In each room, the author writes on one gateway and the asker on the other. */
  const startPairs = (rooms: number) => clients.startLoad(cluster, rooms, (number) => gateway(number % 2));

  async function expectNoLoss(load: Load): Promise<void> {
    await load.verify(gateway(0));
    const losses = load.clients.flatMap((one) => one.losses);
    expect(losses, 'no client lost its connection').to.deep.equal([]);
  }

  it('24: subscriber connections cut under load: nothing is missing after one comparison', async () => {
    const load = await startPairs(6);
    for (let i = 0; i < 4; i += 1) {
      await load.clients[0]?.send(load.rooms[0]?.chatNo as number);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }
    await expectNoLoss(load);
  });

  it(`25: Redis down for ${OUTAGE_S} s: REST and delivery within a gateway continue, the other gateway catches up, no stale event follows`, async () => {
    const room = await cluster.openRoom();
    const { chatNo } = room;
    const author = client('author', room.author, 0);
    const [asker, elsewhere] = [client('asker', room.asker, 0), client('elsewhere', room.asker, 1)];
    const views = await Promise.all([author, asker, elsewhere].map((one) => one.enter(chatNo)));
    const load = await startPairs(4);
    const stale: unknown[] = [];
    (await elsewhere.socket()).on('typing', (event) => stale.push(event));
    await cluster.redis.kill();
    const ends = Date.now() + OUTAGE_S * 1_000;
    await eventually(async () => {
      for (const base of [...cluster.http, ...cluster.gateways]) expect(await isReady(base)).to.equal(false);
    });
    let sent = 0;
    while (Date.now() < ends) {
      const start = performance.now();
      await author.send(chatNo);
      sent += 1;
      await eventually(() => expect(views[1]?.last, 'on the same gateway').to.equal(sent), 2_000);
      (await author.socket()).emit('typing', { chatNo, typing: true });
      const { status } = await room.asker.get(`/chatroom/${chatNo}`);
      expect(status).to.equal(200);
      expect(performance.now() - start, 'nothing waits for Redis').to.be.below(2_500);
      // The pace of the load: more would not be caught up in one answer.
      await sleep(100);
    }
    await cluster.redis.restart();
    const back = Date.now();
    await eventually(() => expect(views[2]?.last).to.be.at.least(sent), 10_000);
    process.stdout.write(`      caught up ${Date.now() - back} ms after Redis was back\n`);
    await clients.checker.verify(room, gateway(1));
    await load.finish();
    // The rooms were open all the time, although the other gateway could not know it.
    for (const one of load.clients) {
      await eventually(async () => expect(await unreadOf(one.who), 'unread in an open room').to.equal(0));
    }
    await expectNoLoss(load);
    expect(stale, 'typing events from before the outage ended').to.deep.equal([]);
  });

  it('25: Redis lost its data: whoever is in a room is there at the next join, and is not notified of the next message', async () => {
    const { author, asker, chatNo } = await cluster.openRoom();
    const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
    await Promise.all([one.join(chatNo), two.join(chatNo)]);
    const both = [author.no, asker.no].sort((a, b) => a - b);
    await admin.flushall();
    expect((await two.join(chatNo)).present).to.deep.equal(both);
    await admin.flushall();
    await two.send(chatNo, 'while both are there');
    await one.ask('room:leave', { chatNo });
    await two.send(chatNo, 'while one is away');
    await one.next<{ content: string }>('notification', ({ content }) => content === 'while one is away');
    expect(one.heard('notification')).to.have.length(1);
  });

  it('26: processes started without Redis serve what they can, are not ready, and become ready when Redis starts', async () => {
    await cluster.redis.kill();
    await cluster.kill('gateway-1');
    await cluster.kill('http-1');
    await Promise.all([cluster.process('gateway-1').start(), cluster.process('http-1').start()]);
    expect(await isReady(gateway(1))).to.equal(false);
    const room = await cluster.openRoom();
    const [author, asker] = [client('author', room.author, 0), client('asker', room.asker, 1)];
    await Promise.all([author.enter(room.chatNo), asker.enter(room.chatNo)]);
    await asker.send(room.chatNo, 'without Redis');
    await author.send(room.chatNo, 'from the other');
    await cluster.redis.restart();
    await cluster.ready();
    await clients.checker.verify(room, gateway(1));
    await asker.send(room.chatNo, 'with Redis');
    await clients.checker.verify(room, gateway(0));
  });

  it('27: malformed, foreign and huge messages on every channel of the service are dropped and counted', async () => {
    const load = await startPairs(2);
    const channels = (await admin.pubsub('CHANNELS', 'adoption:*')) as string[];
    const socketRooms = [`${redisChannels.sockets}#/#`, `${redisChannels.sockets}#/#room:1#`];
    const requests = [`${redisChannels.sockets}-request#/#`, `${redisChannels.sockets}-response#/#`];
    const payloads = [
      Buffer.from([0xc1, 0xff, 0x00, 0x93]),
      Buffer.from(''),
      Buffer.from('{'),
      Buffer.from('null'),
      Buffer.from('{"type":99,"uid":7}'),
      Buffer.from('{"from":"x","delivery":{"memberNo":1}}'),
      Buffer.from(JSON.stringify(['uid', { type: 2, nsp: '/', data: ['message', null] }, null])),
      Buffer.alloc(4 * 1024 * 1024, 'x'),
    ];
    for (const channel of new Set([...channels, ...socketRooms, ...requests])) {
      for (const payload of payloads) await admin.publish(channel, payload);
    }
    for (const base of [...cluster.http, ...cluster.gateways]) {
      expect(
        await metric(base, 'adoption_redis_messages_dropped_total{reason="unsigned"}'),
        base,
      ).to.be.above(0);
    }
    await expectNoLoss(load);
  });

  it('28: Redis read-only, paused, or disconnecting slow subscribers: all clients catch up', async () => {
    const load = await startPairs(4);
    // A replica of a master that does not exist, as after a failover to another server.
    await admin.replicaof('127.0.0.1', 1);
    await eventually(async () => expect(await isReady(gateway(0))).to.equal(false));
    await admin.replicaof('NO', 'ONE');
    await cluster.ready();
    await admin.client('PAUSE', 3_000);
    await load.clients[0]?.send(load.rooms[0]?.chatNo as number);
    await cluster.ready();
    await admin.config('SET', 'client-output-buffer-limit', 'pubsub 1024 1024 1');
    const flood = Buffer.alloc(512 * 1024, 'x');
    for (let i = 0; i < 8; i += 1) await admin.publish(redisChannels.presenceCleared, flood);
    await admin.config('SET', 'client-output-buffer-limit', 'pubsub 33554432 8388608 60');
    await cluster.ready();
    await expectNoLoss(load);
  });

  itMakesLostPushesGood(() => cluster);
  itFeedsStreams(() => cluster);
});
