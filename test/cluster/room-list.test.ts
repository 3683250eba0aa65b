import { expect } from 'chai';
import { type Cluster, startCluster } from '../support/cluster.js';
import { eventually } from '../support/eventually.js';
import { hasRedisServer } from '../support/redis.js';
import { connect } from '../support/sockets.js';
import { type Line, startLine } from './line.js';

interface RoomElement {
  chatNo: number;
  latestMessage?: { context: string };
}

(hasRedisServer ? describe : describe.skip)('the room list as two gateways tell it', function () {
  this.timeout(30_000);
  let cluster: Cluster;
  /** Between gateway-0 and the database. */
  let database: Line;

  before(async () => {
    cluster = await startCluster({
      http: 1,
      gateways: 2,
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
    await cluster?.stop();
    await database?.close();
  });

  /** How many `room` events a gateway has sent. */
  async function told(base: string): Promise<number> {
    const text = await (await fetch(`${base}/metrics`)).text();
    return Number(/^socket_broadcasts_total\{event="room"\} (\d+)/m.exec(text)?.[1] ?? 0);
  }

  it('ends with the latest, also when a gateway tells late what it read before', async () => {
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
    // Past the quiet time, so that the next change is told at once.
    await new Promise((resolve) => setTimeout(resolve, 300));

    const before = await told(slow);
    database.holdAfter(
      (asked) => asked.includes('find') && asked.includes('messages') && asked.includes('sort'),
    );
    await send(sender, 'first');
    await new Promise((resolve) => setTimeout(resolve, 100));
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
});
