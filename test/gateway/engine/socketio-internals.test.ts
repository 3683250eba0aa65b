import { once } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { counted } from '../../support/counted.js';
import { eventually, nextTurn, WAIT_MS } from '../../support/eventually.js';
import { rawSocket } from '../../support/raw-socket.js';
import { connect } from '../../support/sockets.js';
import { joinRaw, type LoneGateway, startGateway, stopGateways } from '../gateway-alone.js';

/** Most unsent bytes of a connection. (PROTOCOL.md, the end of a connection) */
const MAX_WAITING = 1024 * 1024;

describe('the changes to Socket.IO', () => {
  let lone: LoneGateway;
  afterEach(async () => {
    mock.restoreAll();
    await stopGateways();
  });

  it('encode nothing for a room without sockets', async () => {
    lone = await startGateway();
    const payload = { toJSON: mock.fn(() => ({})) };
    lone.gateway.live.notification(9, Object.assign(payload, { id: 1 }) as never);
    expect(payload.toJSON.mock.callCount()).to.equal(0);
  });

  for (const kind of ['classic', 'sharded'] as const) {
    it(`read and publish the messages between processes (${kind})`, async () => {
      lone = await startGateway({ REDIS_ADAPTER: kind }, true);
      const raw = await joinRaw(lone);
      lone.gateway.live.presence(1, 8, true, 5);
      const event = '42["presence",{"chatNo":1,"memberNo":8,"present":true}]';
      await eventually(() => expect(raw.heard.at(-1), 'sent by this process').to.equal(event));
      const [[command, channel, text]] = lone.redis.published as [[string, string, string]];
      expect(channel).to.equal('adoption:sockets#/#room:1#');
      expect(text).to.include('["presence",{"chatNo":1,"memberNo":8,"present":true},5]');
      expect(command).to.equal(kind === 'classic' ? 'publish' : 'spublish');
      // Another process publishes the same, but for its number.
      lone.redis.hear(
        kind === 'classic' ? 'pmessageBuffer' : 'smessageBuffer',
        channel,
        text.replace('"memberNo":8', '"memberNo":9'),
      );
      await eventually(() => expect(raw.heard.at(-1)).to.equal(event.replace('8', '9')));
      raw.socket.destroy();
    });
  }

  it('restore the adapter when the server closes', async () => {
    await startGateway();
    await stopGateways();
    const { broadcast } = Adapter.prototype;
    lone = await startGateway({}, true);
    expect(Adapter.prototype.broadcast).not.to.equal(broadcast);
    await stopGateways();
    expect(Adapter.prototype.broadcast).to.equal(broadcast);
  });

  it('keep only the headers of a request that identify the caller, and of an admitted one nothing', async () => {
    lone = await startGateway();
    const agent = `agent-${'x'.repeat(100)}`;
    const extraHeaders = { 'User-Agent': agent, Cookie: `session=${'x'.repeat(1_000)}` };
    let kept: object | undefined;
    lone.io.engine.once('connection', ({ request }: { request: { headers: object } }) => {
      kept = request.headers;
    });
    await connect({ token: 'member-7' }, { extraHeaders }, lone.base);
    const absent = { authorization: undefined, origin: undefined, forwarded: undefined };
    expect(kept).to.deep.equal({
      ...{ ...absent, 'user-agent': agent, 'x-forwarded-for': undefined, 'x-real-ip': undefined },
    });
    const [socket] = [...lone.io.of('/').sockets.values()];
    expect(socket?.request.headers).to.deep.equal({});
    expect(socket?.handshake).to.deep.equal({});
  });

  it('share the listeners of all connections, each of which is told of its own events', async () => {
    lone = await startGateway();
    const clients = [
      await connect({ token: 'member-7' }, {}, lone.base),
      await connect({ token: 'member-8' }, {}, lone.base),
    ];
    const [one, other] = [...lone.io.of('/').sockets.values()] as unknown as Record<string, unknown>[];
    for (const kept of ['_events', '_anyListeners', 'acks', 'fns', 'handshake'])
      expect(one?.[kept], kept).to.equal(other?.[kept]).and.not.equal(undefined);
    const [server] = [...lone.io.of('/').sockets.values()];
    expect(() => server?.on('typing' as never, () => {}), 'would be called for all').to.throw(TypeError);
    expect(() => server?.onAny(() => {})).to.throw(TypeError);
    await clients[1]?.socket.timeout(WAIT_MS).emitWithAck('unknown');
    expect(lone.log.filter(([what]) => what === 'socketEvent')).to.deep.equal([['socketEvent', 8]]);
    const open = () => counted(metrics.sockets, { transport: 'websocket' });
    const before = await open();
    clients[0]?.socket.disconnect();
    await eventually(async () => expect(await open()).to.equal(before - 1));
  });

  it('12: close a reader with more than 1 MiB of unsent data, and no earlier, as a slow one', async () => {
    lone = await startGateway();
    const slow = await rawSocket(lone.base);
    slow.send('40{"token":"member-7"}');
    await eventually(() => expect(slow.heard.at(-1)).to.match(/^40/));
    slow.socket.pause();
    const page = { id: 1, content: 'x'.repeat(50_000) } as never;
    let most = 0;
    const closed = () => counted(metrics.socketsClosed, { reason: 'slow' });
    const before = await closed();
    // The system buffers some megabytes first.
    for (let sent = 0; sent < 500; sent += 1) {
      lone.gateway.live.notification(7, page);
      await nextTurn();
      if (lone.io.of('/').sockets.size === 0) break;
      most = Math.max(most, await counted(metrics.unreadBytes, { channel: 'sockets' }));
    }
    slow.socket.destroy();
    expect(lone.io.of('/').sockets.size).to.equal(0);
    expect(most).to.be.within(MAX_WAITING - 200_000, MAX_WAITING + 200_000);
    expect(await closed()).to.equal(before + 1);
  });

  it('close a connection that sends a binary frame, with the reason', async () => {
    lone = await startGateway();
    const { socket } = await connect({ token: 'member-7' }, {}, lone.base);
    const closed = once(socket as never, 'disconnect');
    socket.emit('typing', Buffer.from('binary'));
    const [, details] = (await closed) as [string, { context: { code: number } }];
    expect(details.context.code).to.equal(1003);
  });
});
