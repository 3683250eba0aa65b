import { once } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Adapter } from 'socket.io-adapter';
import { eventually } from '../support/eventually.js';
import { rawSocket } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';

const JOIN = '420["room:join",{"chatNo":1}]';
const ANSWER = '430[{"status":200,"messages":[],"more":false,"seq":0,"present":[]}]';
const TYPING = '42["typing",{"chatNo":1,"memberNo":8,"typing":true}]';
const typing = (chatNo: number) => ['typing', { chatNo, memberNo: 8, typing: true }];

/** Most bytes that wait for a reader. (PROTOCOL.md, the end of a connection) */
const MAX_WAITING = 1024 * 1024;

interface Connection {
  transport: { socket: { getBufferedAmount(): number; getUserData(): { response?: object } } };
}

/** The parts of the Redis adapters that the bus calls. */
interface BusAdapter {
  uid: string;
  parser: { encode(message: unknown): Buffer };
  onmessage(pattern: null, channel: string, message: Buffer): void;
  onMessage(message: object): void;
}

describe('Socket.IO’s internals', () => {
  let lone: LoneGateway;
  afterEach(async () => {
    mock.restoreAll();
    await stopGateways();
  });

  const connection = () => [...lone.io.of('/').sockets.values()][0]?.conn as never as Connection;

  /** A WebSocket of member 7 in room 1. */
  async function joined() {
    const raw = await rawSocket(lone.base);
    raw.send('40{"token":"member-7"}');
    await eventually(() => expect(raw.heard.at(-1)).to.match(/^40/));
    raw.send(JOIN);
    await eventually(() => expect(raw.heard).to.include(ANSWER));
    return raw;
  }

  /** Long-polling of member 7, in room 1. */
  async function polling() {
    const client = await connect({ token: 'member-7' }, { transports: ['polling'] }, lone.base);
    await client.ask('room:join', { chatNo: 1 });
    return client;
  }

  it('have topics and frames as published here, without the adapter while nobody polls', async () => {
    lone = await startGateway();
    const broadcast = mock.method(Adapter.prototype, 'broadcast');
    const raw = await joined();
    lone.gateway.live.typing(1, 8, true);
    await eventually(() => expect(raw.heard.at(-1)).to.equal(TYPING));
    expect(broadcast.mock.callCount()).to.equal(0);
    raw.socket.destroy();
  });

  it('have frames of their own that are the same, and reach long-polling sockets', async () => {
    lone = await startGateway();
    const client = await polling();
    const broadcast = mock.method(Adapter.prototype, 'broadcast');
    const raw = await joined();
    lone.gateway.live.typing(1, 8, true);
    await eventually(() => expect(raw.heard.at(-1)).to.equal(TYPING));
    expect(await client.next('typing')).to.deep.equal(typing(1)[1]);
    const calls = broadcast.mock.callCount();
    expect(calls).to.be.greaterThan(0);
    // Closed or upgraded, it no longer counts.
    client.socket.disconnect();
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(1));
    const { socket } = await connect(
      { token: 'member-8' },
      { transports: ['polling', 'websocket'] },
      lone.base,
    );
    await eventually(() => expect(socket.io.engine.transport.name).to.equal('websocket'));
    await eventually(() => {
      const before = broadcast.mock.callCount();
      lone.gateway.live.typing(1, 8, true);
      expect(broadcast.mock.callCount()).to.equal(before);
    });
    raw.socket.destroy();
  });

  it('call for each acknowledgement the function that publishes it', async () => {
    lone = await startGateway();
    const client = await connect({ token: 'member-7' }, {}, lone.base);
    const [socket] = [...lone.io.of('/').sockets.values()];
    const direct = mock.method(socket as never as { packet(): void }, 'packet');
    expect(await client.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    expect(direct.mock.callCount(), 'sent directly').to.equal(0);
  });

  it('encode nothing for a room without sockets', async () => {
    lone = await startGateway();
    const payload = { toJSON: mock.fn(() => ({})) };
    lone.gateway.live.notification(9, Object.assign(payload, { id: 1 }) as never);
    expect(payload.toJSON.mock.callCount()).to.equal(0);
  });

  for (const kind of ['classic', 'sharded'] as const) {
    it(`deliver through the base adapter what the bus brings (${kind})`, async () => {
      lone = await startGateway({ REDIS_ADAPTER: kind }, true);
      const raw = await joined();
      lone.gateway.live.typing(1, 8, true);
      await eventually(() => expect(raw.heard.at(-1), 'sent by this process').to.equal(TYPING));
      const adapter = lone.io.of('/').adapter as never as BusAdapter;
      const opts = { rooms: ['room:1'], except: [], flags: {} };
      // A note for gateways, which clients do not get.
      const packet = (data: unknown[]) => ({ type: 2, nsp: '/', data });
      const receive = (data: unknown[]) =>
        kind === 'classic'
          ? adapter.onmessage(
              null,
              'adoption:sockets#/#room:1#',
              adapter.parser.encode(['another', packet(data), opts]),
            )
          : adapter.onMessage({ uid: 'another', nsp: '/', type: 3, data: { packet: packet(data), opts } });
      receive(['presence', { chatNo: 1, memberNo: 8, present: true }, 1]);
      await eventually(() =>
        expect(raw.heard.at(-1)).to.equal('42["presence",{"chatNo":1,"memberNo":8,"present":true}]'),
      );
      raw.socket.destroy();
    });
  }

  it('give back the adapter when the server closes', async () => {
    await startGateway();
    await stopGateways();
    const { broadcast } = Adapter.prototype;
    lone = await startGateway({}, true);
    expect(Adapter.prototype.broadcast).not.to.equal(broadcast);
    await stopGateways();
    expect(Adapter.prototype.broadcast).to.equal(broadcast);
  });

  it('keep of a request the headers that identify the caller, and nothing of the handshake', async () => {
    lone = await startGateway();
    const agent = `agent-${'x'.repeat(100)}`;
    const extraHeaders = { 'User-Agent': agent, Cookie: `session=${'x'.repeat(1_000)}` };
    await connect({ token: 'member-7' }, { extraHeaders }, lone.base);
    const [socket] = [...lone.io.of('/').sockets.values()];
    const { request } = (socket as { conn: unknown }).conn as { request: { headers: object } };
    expect(request.headers).to.deep.equal({
      ...{ authorization: undefined, 'user-agent': agent, 'x-forwarded-for': undefined },
    });
    expect(socket?.handshake).to.deep.equal({});
  });

  it('keep no response of a handshake', async () => {
    lone = await startGateway();
    await connect({ token: 'member-7' }, {}, lone.base);
    expect(connection().transport.socket.getUserData()).to.have.property('response', undefined);
  });

  it('close a reader that more than 1 MiB waits for, and none before', async () => {
    lone = await startGateway();
    const slow = await rawSocket(lone.base);
    slow.send('40{"token":"member-7"}');
    await eventually(() => expect(slow.heard.at(-1)).to.match(/^40/));
    slow.socket.pause();
    const { transport } = connection();
    const page = { id: 1, content: 'x'.repeat(50_000) } as never;
    let most = 0;
    // The system buffers some megabytes first.
    for (let sent = 0; sent < 500; sent += 1) {
      lone.gateway.live.notification(7, page);
      await new Promise((resolve) => setImmediate(resolve));
      if (lone.io.of('/').sockets.size === 0) break;
      most = Math.max(most, transport.socket.getBufferedAmount());
    }
    slow.socket.destroy();
    expect(lone.io.of('/').sockets.size).to.equal(0);
    expect(most).to.be.within(MAX_WAITING - 200_000, MAX_WAITING + 200_000);
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
