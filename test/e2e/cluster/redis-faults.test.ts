import { expect } from 'chai';
import { Redis } from 'ioredis';
import { redisChannels } from '../../../domain/kernel/redis-keys.js';
import { type Cluster, isReady, startCluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import { type Checker, createChecker } from './checker.js';
import { type Load, startLoad } from './load.js';
import { itMakesLostPushesGood } from './lost-pushes.js';
import { itFeedsStreams } from './streams.js';

/** Length, in seconds, of the outage; the long ones of the list by setting, they take as long as they say. */
const OUTAGE_S = Number(process.env.REDIS_OUTAGE_S ?? 4);

(hasRedisServer ? describe : describe.skip)('a Redis that fails', function () {
  this.timeout(120_000 + 2_000 * OUTAGE_S);
  let cluster: Cluster;
  let admin: Redis;
  let checker: Checker;
  let clients: ChatClient[] = [];
  let load: Load | undefined;

  before(async () => {
    cluster = await startCluster({ http: 2, gateways: 2 });
  });
  after(async () => {
    const faults = cluster?.faults();
    await cluster?.stop();
    expect(faults).to.deep.equal([]);
  });
  beforeEach(() => {
    checker = createChecker();
    admin = new Redis(cluster.redis.port, '127.0.0.1', { maxRetriesPerRequest: null });
    // Cut off along with the service's; it comes back by itself.
    admin.on('error', () => undefined);
  });
  afterEach(async () => {
    load?.close();
    load = undefined;
    for (const client of clients) client.close();
    clients = [];
    admin.disconnect();
    for (const { name, running } of cluster.processes) expect(running, `${name} lives`).to.equal(true);
    await cluster.ready();
    await expectPromptDelivery();
  });

  /** That pushes arrive by themselves again, and not by the comparison alone. */
  async function expectPromptDelivery(): Promise<void> {
    const { author, asker, chatNo } = await cluster.openRoom();
    const [one, two] = await Promise.all([connect(author, {}, gateway(0)), connect(asker, {}, gateway(1))]);
    await Promise.all([one.ask('room:join', { chatNo }), two.ask('room:join', { chatNo })]);
    const start = performance.now();
    for (const content of ['1', '2', '3', '4']) {
      await one.ask('message:send', { chatNo, contentType: 'text', content });
      await two.next<{ content: string }>('message', (message) => message.content === content);
    }
    expect(performance.now() - start, 'four messages, in less than a comparison').to.be.below(4_000);
  }

  const gateway = (i: number) => cluster.gateways[i] as string;

  function client(name: string, who: ChatClient['who'], on: number): ChatClient {
    const made = createChatClient(name, who, () => gateway(on), checker);
    clients.push(made);
    return made;
  }

  /** The author of each room on one gateway, who asked on the other. */
  const startPairs = (rooms: number) => startLoad(cluster, checker, rooms, (number) => gateway(number % 2));

  async function expectNobodyLost(): Promise<void> {
    await load?.verify(gateway(0));
    expect(
      load?.clients.flatMap(({ losses }) => losses),
      'no client lost its connection',
    ).to.deep.equal([]);
  }

  it('24: subscriber connections cut under load: nothing is missing after one comparison', async () => {
    load = await startPairs(6);
    for (let i = 0; i < 4; i += 1) {
      await load.clients[0]?.send(load.rooms[0]?.chatNo as number);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }
    await expectNobodyLost();
  });

  it(`25: Redis away for ${OUTAGE_S} s: reads, writes and delivery on one gateway go on, the rest catches up, nothing stale follows`, async () => {
    const room = await cluster.openRoom();
    const { chatNo } = room;
    const author = client('author', room.author, 0);
    const [asker, elsewhere] = [client('asker', room.asker, 0), client('elsewhere', room.asker, 1)];
    const views = await Promise.all([author, asker, elsewhere].map((one) => one.enter(chatNo)));
    load = await startPairs(4);
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
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await cluster.redis.restart();
    const back = Date.now();
    await eventually(() => expect(views[2]?.last).to.be.at.least(sent), 10_000);
    process.stdout.write(`      caught up ${Date.now() - back} ms after Redis was back\n`);
    await checker.verify(room, gateway(1));
    await load.finish();
    // They had the room before them all the time, though the other gateway could not know.
    for (const one of load.clients) {
      await eventually(async () => {
        const { body } = await one.who.get<{ unReadCount: number }[]>('/chatroom');
        expect(body[0]?.unReadCount, 'unread in a room that is open').to.equal(0);
      });
    }
    await expectNobodyLost();
    expect(stale, 'who was typing during the outage').to.deep.equal([]);
  });

  it('26: a process that starts without Redis serves what it can, says so, and is whole when Redis comes', async () => {
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
    await checker.verify(room, gateway(1));
    await asker.send(room.chatNo, 'with Redis');
    await checker.verify(room, gateway(0));
  });

  it('27: malformed, foreign and huge messages on every channel of ours are dropped', async () => {
    load = await startPairs(2);
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
      const text = await (await fetch(`${base}/metrics`)).text();
      expect(
        Number(/^\w*redis\w*dropped\w*(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1]),
        text.slice(0, 200),
      ).to.be.above(0);
    }
    await expectNobodyLost();
  });

  it('28: a Redis that is read-only, pauses, or cuts off slow readers: everybody catches up', async () => {
    load = await startPairs(4);
    // A replica of a master that does not exist, as after a failover that went elsewhere.
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
    await expectNobodyLost();
  });

  itMakesLostPushesGood(() => cluster);
  itFeedsStreams(() => cluster);
});
