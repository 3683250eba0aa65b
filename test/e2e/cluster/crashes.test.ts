import { expect } from 'chai';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { connect } from '../../support/sockets.js';
import { type ChatClient, createChatClient } from './chat-client.js';
import { type Checker, createChecker } from './checker.js';
import { itOutlivesFrozenPeers } from './frozen.js';
import { type Line, startLine } from './line.js';
import { type Load, startLoad } from './load.js';

interface RoomElement {
  latestMessage?: { context: string };
}

(hasRedisServer ? describe : describe.skip)('processes that go, or are slow', () => {
  let cluster: Cluster;
  /** Between gateway-0 and the database. */
  let database: Line;
  let checker: Checker;
  let clients: ChatClient[] = [];
  let load: Load | undefined;

  before(async () => {
    cluster = await startCluster({
      http: 2,
      gateways: 3,
      async envOf(name, env) {
        if (name !== 'gateway-0') return env;
        const uri = new URL(env.MONGODB_URI as string);
        database = await startLine(Number(uri.port));
        uri.port = String(database.port);
        return { ...env, MONGODB_URI: uri.href };
      },
    });
  });
  after(async () => {
    const faults = cluster?.faults();
    await cluster?.stop();
    await database?.close();
    expect(faults).to.deep.equal([]);
  });
  beforeEach(() => {
    checker = createChecker();
  });
  afterEach(() => {
    database.release();
    load?.close();
    load = undefined;
    for (const client of clients) client.close();
    clients = [];
  });

  const gateway = (i: number) => cluster.gateways[i % cluster.gateways.length] as string;

  function client(name: string, who: ChatClient['who'], address: () => string): ChatClient {
    const made = createChatClient(name, who, address, checker);
    clients.push(made);
    return made;
  }

  async function listed(who: ChatClient['who'], chatNo: number): Promise<string[]> {
    const { body } = await who.get<{ chatList: { content: string }[] }>(`/chatroom/${chatNo}`);
    return body.chatList.map(({ content }) => content);
  }

  it('15, 16: a gateway killed between storing and publishing: the peer gets it within 10 s, the retry the same', async () => {
    const room = await cluster.openRoom();
    const { asker, chatNo } = room;
    let home = 0;
    const peer = await client('author', room.author, () => gateway(1)).enter(chatNo);
    const sender = client('asker', asker, () => gateway(home));
    await sender.enter(chatNo);
    await sender.send(chatNo, 'before');

    database.holdAfter((asked) => asked.includes('insert') && asked.includes('messages'));
    const sent = sender.send(chatNo, 'in doubt');
    await eventually(async () => expect(await listed(asker, chatNo)).to.include('in doubt'));
    const start = Date.now();
    home = 2;
    await cluster.kill('gateway-0');
    database.release();
    await eventually(() => expect(peer.last).to.equal(2), 10_000);
    process.stdout.write(`      found by the comparison after ${Date.now() - start} ms\n`);
    expect((await sent).seq).to.equal(2);
    expect(sender.visited).to.deep.equal([gateway(0), gateway(2)]);
    await checker.verify(room, gateway(1));
    await cluster.restart('gateway-0');
  });

  it('15: a gateway killed between publishing and acknowledging: the retry gets the same number, the peer sees it once', async () => {
    const room = await cluster.openRoom();
    const { asker, chatNo } = room;
    const line = await startLine(Number(new URL(gateway(0)).port));
    let home = `http://127.0.0.1:${line.port}`;
    const peer = await client('author', room.author, () => gateway(1)).enter(chatNo);
    const sender = client('asker', asker, () => home);
    await sender.enter(chatNo);
    await sender.send(chatNo, 'before');

    line.holdAfter(() => true);
    const sent = sender.send(chatNo, 'unanswered');
    await eventually(() => expect(peer.last).to.equal(2));
    home = gateway(2);
    await cluster.kill('gateway-0');
    line.cut();
    expect((await sent).seq).to.equal(2);
    await checker.verify(room, gateway(1));
    await line.close();
    await cluster.restart('gateway-0');
  });

  it('45: SIGTERM under load drains: exit 0, connections closed one by one, clients elsewhere with nothing missing', async () => {
    const losses = await underLoad(8, async () => {
      const start = Date.now();
      expect(await cluster.kill('gateway-0', 'SIGTERM')).to.equal(0);
      expect(Date.now() - start, 'within the deadline').to.be.below(5_000);
    });
    expect(losses.length).to.be.at.least(4);
    const spread = Math.max(...losses) - Math.min(...losses);
    expect(spread, 'spread over the window of 500 ms').to.be.above(50);
    await cluster.restart('gateway-0');
  });

  it('45: SIGKILL under load: clients elsewhere with nothing missing', async () => {
    await underLoad(8, async () => {
      await cluster.kill('gateway-0');
    });
    await cluster.restart('gateway-0');
  });

  it('45: a second SIGTERM ends a process that drains', async () => {
    await cluster.kill('gateway-2');
    await cluster.restart('gateway-2', { DRAIN_WINDOW_MS: '60000', SHUTDOWN_TIMEOUT_MS: '120000' });
    const room = await cluster.openRoom();
    const one = client('asker', room.asker, () => gateway(2));
    const draining = new Promise((resolve) => {
      void one.socket().then((socket) => socket.once('drain', resolve));
    });
    await one.socket();
    const { gone } = cluster.process('gateway-2');
    cluster.process('gateway-2').signal('SIGTERM');
    await draining;
    one.close();
    cluster.process('gateway-2').signal('SIGTERM');
    expect(await gone).to.equal(1);
    await cluster.restart('gateway-2');
  });

  it('46: all gateways restarted one after another under load: nothing lost, doubled or out of order', async () => {
    await underLoad(12, async () => {
      for (const name of ['gateway-0', 'gateway-1', 'gateway-2']) {
        expect(await cluster.kill(name, 'SIGTERM')).to.equal(0);
        await cluster.restart(name);
      }
    });
  });

  it('48: clocks an hour ahead and an hour behind change neither order nor ids', async () => {
    const [ahead, behind] = ['gateway-0', 'gateway-1'];
    await Promise.all([cluster.kill(ahead as string), cluster.kill(behind as string)]);
    await cluster.restart(ahead as string, { CLOCK_SHIFT_MS: '3600000' });
    await cluster.restart(behind as string, { CLOCK_SHIFT_MS: '-3600000' });
    const room = await cluster.openRoom();
    const { chatNo } = room;
    const [author, asker] = [
      client('author', room.author, () => gateway(0)),
      client('asker', room.asker, () => gateway(1)),
    ];
    await Promise.all([author.enter(chatNo), asker.enter(chatNo)]);
    for (let i = 0; i < 10; i += 1) {
      const first = await author.send(chatNo);
      const second = await asker.send(chatNo);
      expect(second.seq).to.equal(first.seq + 1);
      expect(second.sendTime, 'the clocks are wrong indeed').to.be.below(first.sendTime);
    }
    await checker.verify(room, gateway(2));
    const { body } = await room.author.get<{ latestMessage: { context: string } }[]>('/chatroom');
    expect(body[0]?.latestMessage.context).to.equal('asker-10');
  });

  it('tells a room list that ends with the latest, also when a gateway tells late what it read before', async () => {
    // A gateway that was slow to read, or to send, told an older state behind the newer one of another;
    // nothing came after it, so the list stayed wrong until the next message.
    const { author, asker, chatNo } = await cluster.openRoom();
    const [slow, fast] = cluster.gateways as [string, string];
    const [sender, elsewhere, watcher] = await Promise.all([
      connect(asker, {}, slow),
      connect(asker, {}, fast),
      connect(author, {}, fast),
    ]);
    const send = (client: typeof sender, content: string) =>
      client.ask('message:send', { chatNo, contentType: 'text', content });
    const hears = (content: string) =>
      watcher.next<RoomElement>('room', (room) => room.latestMessage?.context === content);
    await send(sender, 'before');
    await hears('before');
    const before = await told(slow);
    database.holdAfter(
      (asked) => asked.includes('find') && asked.includes('messages') && asked.includes('sort'),
    );
    await send(sender, 'first');
    await eventually(() => expect(database.held, 'what the slow gateway reads').to.be.above(0));
    await send(elsewhere, 'second');
    await hears('second');
    database.release();
    await eventually(async () => expect(await told(slow)).to.be.above(before + 1));
    // A push of the slow gateway that is heard proves that those before it have been.
    await sender.ask('room:join', { chatNo });
    const joined = watcher.ask('room:join', { chatNo });
    await joined;
    sender.socket.emit('typing', { chatNo, typing: true });
    await watcher.next('typing');
    const { body } = await author.get<RoomElement[]>('/chatroom');
    const last = watcher.heard<RoomElement>('room').at(-1);
    expect(last?.latestMessage?.context).to.equal('second');
    expect(body[0]?.latestMessage?.context).to.equal('second');
  });

  itOutlivesFrozenPeers(() => cluster);

  /** How many `room` events a gateway has sent. */
  async function told(base: string): Promise<number> {
    const text = await (await fetch(`${base}/metrics`)).text();
    return Number(/^socket_broadcasts_total\{event="room"\} (\d+)/m.exec(text)?.[1] ?? 0);
  }

  /** @returns when the clients that lost their connection lost it */
  async function underLoad(rooms: number, disturb: () => Promise<void>): Promise<number[]> {
    let turn = 0;
    // To gateway-0 first, as long as it is there: else whichever.
    load = await startLoad(cluster, checker, rooms, (number) => {
      turn += 1;
      return gateway(turn <= 2 * rooms ? number : turn);
    });
    await disturb();
    const { clients } = load;
    const lost = () => clients.flatMap((one) => one.losses);
    await eventually(() => expect(lost()).to.not.be.empty);
    await eventually(() => expect(lost().filter(({ back }) => back === undefined)).to.be.empty);
    const losses = lost();
    const away = losses.map(({ at, back = at }) => back - at);
    expect(Math.max(...away), 'back elsewhere').to.be.below(5_000);
    await load.verify(gateway(1));
    return losses.map(({ at }) => at);
  }
});
