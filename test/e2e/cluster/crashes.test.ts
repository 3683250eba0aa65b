import { expect } from 'chai';
import type { RoomView } from '../../../domain/kernel/live.js';
import { startTcpProxy, type TcpProxy } from '../../../scripts/command/tcp-proxy.js';
import { contentsOf, unreadOf } from '../../support/chat.js';
import { type Cluster, startCluster } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { hasRedisServer } from '../../support/redis.js';
import { metric } from '../../support/rest.js';
import { type Client, connect } from '../../support/sockets.js';
import { useChatClients } from './load.js';

/** Time, in ms, within which presence ends after its process. (contract, section 5) */
const PRESENCE_ENDS_MS = 30_000;

(hasRedisServer ? describe : describe.skip)('processes that are killed, restarted or slow', () => {
  let cluster: Cluster;
  /** Between gateway-0 and the database. */
  let database: TcpProxy;
  const clients = useChatClients();

  before(async () => {
    cluster = await startCluster({
      http: 2,
      gateways: 3,
      async envOf(name, env) {
        if (name !== 'gateway-0') return env;
        const uri = new URL(env.MONGODB_URI as string);
        const port = Number(uri.port);
        database = await startTcpProxy(() => port);
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
  afterEach(() => database.release());

  const gateway = (i: number) => cluster.gateways[i % cluster.gateways.length] as string;

  it('15, 16: a gateway killed between storing and publishing: the other party gets the message within 10 s, a retry the same answer', async () => {
    const room = await cluster.openRoom();
    const { asker, chatNo } = room;
    let home = 0;
    const peer = await clients.open('author', room.author, () => gateway(1)).enter(chatNo);
    const sender = clients.open('asker', asker, () => gateway(home));
    await sender.enter(chatNo);
    await sender.send(chatNo, 'before');

    database.holdAfter((request) => request.includes('insert') && request.includes('messages'));
    const sent = sender.send(chatNo, 'in doubt');
    await eventually(async () => expect(await contentsOf(asker, chatNo)).to.include('in doubt'));
    const start = Date.now();
    home = 2;
    await cluster.kill('gateway-0');
    database.release();
    await eventually(() => expect(peer.last).to.equal(2), 10_000);
    process.stdout.write(`      found in the database after ${Date.now() - start} ms\n`);
    expect((await sent).seq).to.equal(2);
    expect(sender.visited).to.deep.equal([gateway(0), gateway(2)]);
    await clients.checker.verify(room, gateway(1));
    await cluster.restart('gateway-0');
  });

  it('15: a gateway killed between publishing and acknowledging: the retry gets the same number, the other party one message', async () => {
    const room = await cluster.openRoom();
    const { asker, chatNo } = room;
    const proxy = await startTcpProxy(() => Number(new URL(gateway(0)).port));
    let home = `http://127.0.0.1:${proxy.port}`;
    const peer = await clients.open('author', room.author, () => gateway(1)).enter(chatNo);
    const sender = clients.open('asker', asker, () => home);
    await sender.enter(chatNo);
    await sender.send(chatNo, 'before');

    proxy.holdAfter(() => true);
    const sent = sender.send(chatNo, 'unanswered');
    await eventually(() => expect(peer.last).to.equal(2));
    home = gateway(2);
    await cluster.kill('gateway-0');
    proxy.cut();
    expect((await sent).seq).to.equal(2);
    await clients.checker.verify(room, gateway(1));
    await proxy.close();
    await cluster.restart('gateway-0');
  });

  it('45: SIGTERM under load: exit 0, connections closed over the drain window, clients reconnect and miss nothing', async () => {
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

  it('45: SIGKILL under load: clients reconnect and miss nothing', async () => {
    await underLoad(8, async () => {
      await cluster.kill('gateway-0');
    });
    await cluster.restart('gateway-0');
  });

  it('45: a second SIGTERM ends a draining process at once', async () => {
    await cluster.kill('gateway-2');
    await cluster.restart('gateway-2', { DRAIN_WINDOW_MS: '60000', SHUTDOWN_TIMEOUT_MS: '120000' });
    const room = await cluster.openRoom();
    const one = clients.open('asker', room.asker, () => gateway(2));
    const socket = await one.socket();
    const draining = new Promise((resolve) => socket.once('drain', resolve));
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
    await Promise.all(['gateway-0', 'gateway-1'].map((name) => cluster.kill(name)));
    await cluster.restart('gateway-0', { CLOCK_SHIFT_MS: '3600000' });
    await cluster.restart('gateway-1', { CLOCK_SHIFT_MS: '-3600000' });
    const room = await cluster.openRoom();
    const { chatNo } = room;
    const author = clients.open('author', room.author, () => gateway(0));
    const asker = clients.open('asker', room.asker, () => gateway(1));
    await Promise.all([author.enter(chatNo), asker.enter(chatNo)]);
    for (let i = 0; i < 10; i += 1) {
      const first = await author.send(chatNo);
      const second = await asker.send(chatNo);
      expect(second.seq).to.equal(first.seq + 1);
      expect(second.sendTime, 'the clocks differ').to.be.below(first.sendTime);
    }
    await clients.checker.verify(room, gateway(2));
    const { body } = await room.author.get<RoomView[]>('/chatroom');
    expect(body[0]?.latestMessage?.context).to.equal('asker-10');
  });

  it('ends a room list with its latest state, also when a slow gateway publishes what it read before', async () => {
    // The older state of a slow gateway arrived after the newer state of another one, and stayed until the next
    // message.
    const { author, asker, chatNo } = await cluster.openRoom();
    const [slow, fast] = cluster.gateways as [string, string];
    const [sender, elsewhere, watcher] = await Promise.all([
      connect(asker, {}, slow),
      connect(asker, {}, fast),
      connect(author, {}, fast),
    ]);
    const receives = (content: string) =>
      watcher.next<RoomView>('room', (room) => room.latestMessage?.context === content);
    const published = () => metric(slow, 'adoption_socket_broadcasts_total{event="room"}');
    await sender.send(chatNo, 'before');
    await receives('before');
    const before = await published();
    database.holdAfter(
      (request) => request.includes('find') && request.includes('messages') && request.includes('sort'),
    );
    await sender.send(chatNo, 'first');
    await eventually(() => expect(database.held, 'reads of the slow gateway').to.be.above(0));
    await elsewhere.send(chatNo, 'second');
    await receives('second');
    database.release();
    await eventually(async () => expect(await published()).to.be.above(before + 1));
    // A later push of the slow gateway has arrived, and so have those before it.
    await sender.join(chatNo);
    await watcher.join(chatNo);
    sender.socket.emit('typing', { chatNo, typing: true });
    await watcher.next('typing');
    const { body } = await author.get<RoomView[]>('/chatroom');
    const last = watcher.heard<RoomView>('room').at(-1);
    expect(last?.latestMessage?.context).to.equal('second');
    expect(body[0]?.latestMessage?.context).to.equal('second');
  });

  it('29: a killed and a frozen gateway delay no request and keep no member present; once resumed, the frozen one catches up before it serves', async () => {
    const [ofFrozen, ofKilled] = [await cluster.openRoom(), await cluster.openRoom()];
    const frozen = clients.open('frozen', ofFrozen.author, () => gateway(1));
    await frozen.enter(ofFrozen.chatNo);
    const killed = await connect(ofKilled.author, {}, gateway(2));
    await killed.join(ofKilled.chatNo);
    const ofFrozenWatcher = await connect(ofFrozen.asker, {}, gateway(0));
    const ofKilledWatcher = await connect(ofKilled.asker, {}, gateway(0));
    for (const [watcher, { chatNo, author, asker }] of [
      [ofFrozenWatcher, ofFrozen],
      [ofKilledWatcher, ofKilled],
    ] as const) {
      const { present } = await watcher.join<{ present: number[] }>(chatNo);
      expect(present).to.have.members([author.no, asker.no]);
    }
    /** Waits until the last presence event of a member, as a client received them, is this. */
    const becomes = (watcher: Client, memberNo: number, present: boolean) =>
      eventually(() => {
        const events = watcher.heard<{ memberNo: number; present: boolean }>('presence');
        expect(events.filter((event) => event.memberNo === memberNo).at(-1)).to.include({ present });
      }, PRESENCE_ENDS_MS);

    cluster.process('gateway-1').signal('SIGSTOP');
    const start = Date.now();
    const hasEnded = cluster.kill('gateway-2');
    const sender = clients.open('sender', ofFrozen.asker, () => gateway(0));
    // No request waits for the gateways that do not respond.
    for (let i = 0; i < 10; i += 1) {
      const asked = performance.now();
      await sender.send(ofFrozen.chatNo);
      expect((await ofFrozen.asker.get('/chatroom')).status).to.equal(200);
      const left = await ofKilled.asker.post(`/chatroom/${ofKilled.chatNo}`, { email: 'nobody@example.org' });
      expect(left.status).to.equal(404);
      expect(performance.now() - asked).to.be.below(1_500);
    }
    await hasEnded;
    await Promise.all([
      becomes(ofFrozenWatcher, ofFrozen.author.no, false),
      becomes(ofKilledWatcher, ofKilled.author.no, false),
    ]);
    process.stdout.write(`      presence ended after ${Date.now() - start} ms\n`);
    // Unread, as the member is no longer present.
    await sender.send(ofFrozen.chatNo);
    expect(await unreadOf(ofFrozen.author)).to.be.above(0);

    cluster.process('gateway-1').signal('SIGCONT');
    await clients.checker.verify(ofFrozen, gateway(0));
    await becomes(ofFrozenWatcher, ofFrozen.author.no, true);
    await cluster.restart('gateway-2');
  });

  /** @returns the times at which clients lost their connections */
  async function underLoad(rooms: number, disturb: () => Promise<void>): Promise<number[]> {
    let attempts = 0;
    // First to the gateway of the client's number, gateway-0 included; after that to any.
    const load = await clients.startLoad(cluster, rooms, (number) => {
      attempts += 1;
      return gateway(attempts <= 2 * rooms ? number : attempts);
    });
    await disturb();
    const lost = () => load.clients.flatMap((one) => one.losses);
    await eventually(() => expect(lost()).to.not.be.empty);
    await eventually(() => expect(lost().filter(({ back }) => back === undefined)).to.be.empty);
    const losses = lost();
    const away = losses.map(({ at, back = at }) => back - at);
    expect(Math.max(...away), 'time until reconnected').to.be.below(5_000);
    await load.verify(gateway(1));
    return losses.map(({ at }) => at);
  }
});
