import { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { hasReusePort } from '../../../gateway/engine/engine.ws.js';
import { counted } from '../../support/counted.js';
import { eventually, nextTurn } from '../../support/eventually.js';
import { answerTo } from '../../support/http-server.js';
import { type RawConnection, rawConnection, rawGet } from '../../support/raw-connection.js';
import { rawPolling } from '../../support/raw-polling.js';
import { clientFrame, rawSocket } from '../../support/raw-socket.js';
import { connect } from '../../support/sockets.js';
import { type LoneGateway, startGateway, stopGateways } from '../gateway-alone.js';

/** Time for a client to answer the end of its WebSocket, ms. */
const UNREAD_MS = 10_000;

// On ws whatever the run is for: it needs no binary.
describe('the engine ws', () => {
  let lone: LoneGateway;
  beforeEach(async () => {
    lone = await startGateway({ GATEWAY_ENGINE: 'ws' });
  });
  afterEach(async () => {
    mock.timers.reset();
    mock.restoreAll();
    await stopGateways();
  });

  const sockets = () => lone.io.of('/').sockets.size;
  /** A request to upgrade to something else than a WebSocket, as curl --http2 sends. */
  const upgradeTo = (path: string, protocol: string) =>
    rawGet(path).replace('\r\n\r\n', `\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);

  it('names itself in the metrics', async () => {
    const text = await (await fetch(`${lone.base}/metrics`)).text();
    expect(text).to.match(/^adoption_build_info\{.*engine="ws".*\} 1$/m);
  });

  it('answers requests that ask for another protocol as if they did not, and WebSockets to other paths 404', async () => {
    const asked = async (request: string): Promise<string> => {
      const { until, socket } = rawConnection(lone.base, request);
      const answer = await until(/\r\n\r\n.+/s);
      socket.destroy();
      return answer;
    };
    expect(await asked(upgradeTo('/healthz', 'h2c'))).to.match(/^HTTP\/1.1 200 .*\{"up":true\}\n$/s);
    expect(await asked(upgradeTo('/socket.io/?EIO=4&transport=polling', 'h2c'))).to.match(
      /^HTTP\/1.1 200 .*"sid":/s,
    );
    expect(await asked(upgradeTo('/nowhere', 'websocket'))).to.match(
      /^HTTP\/1.1 404 .*no such path: \/nowhere/s,
    );
    expect(await asked(upgradeTo('//', 'websocket'))).to.match(/^HTTP\/1.1 404 /);
  });

  it('closes connections of an address beyond twice SOCKET_CONNECTIONS, idle ones counted, but none behind a proxy', async () => {
    const opened: RawConnection[] = [];
    const open = async (gateway: LoneGateway) => {
      const client = rawConnection(gateway.base, rawGet('/healthz'));
      opened.push(client);
      const answered = client.until(/^HTTP\/1\.1 200 [\s\S]*\}/).then(() => 'answered');
      return Promise.race([answered, client.ended.then(() => 'closed')]);
    };
    const few = { GATEWAY_ENGINE: 'ws', SOCKET_CONNECTIONS: '10' };
    const gateway = await startGateway(few);
    for (let i = 0; i < 20; i += 1) expect(await open(gateway)).to.equal('answered');
    expect(await open(gateway)).to.equal('closed');
    opened[0]?.socket.destroy();
    await eventually(async () => expect(await open(gateway)).to.equal('answered'));
    const behindProxy = await startGateway({ ...few, TRUST_PROXY: '1' });
    for (let i = 0; i < 21; i += 1) expect(await open(behindProxy)).to.equal('answered');
    for (const { socket } of opened) socket.destroy();
  });

  it('holds idle connections for KEEP_ALIVE_MS, and tells clients to let go sooner', async () => {
    const client = rawConnection(lone.base, rawGet('/healthz'));
    expect(await client.until(/\}/)).to.match(/^Keep-Alive: timeout=5\r$/m);
    expect(answerTo(client.socket)?.server.keepAliveTimeout).to.equal(65_000);
    client.socket.destroy();
  });

  it('survives a request to upgrade behind one that is not answered yet', async () => {
    const { ended } = rawConnection(lone.base, rawGet('/healthz') + upgradeTo('/healthz', 'h2c'));
    await ended;
    expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
  });

  it('closes a connection that does not read the answer to its request to upgrade', async () => {
    const { setTimeout } = Socket.prototype;
    mock.method(Socket.prototype, 'setTimeout', function (this: Socket, ms: number, done?: () => void) {
      return setTimeout.call(this, ms === UNREAD_MS ? 50 : ms, done);
    });
    const session = await rawPolling(lone.base);
    await session.post(['40{"token":"member-7"}']);
    await session.poll();
    const { pathname, search } = new URL(session.url);
    const deaf = rawConnection(lone.base, upgradeTo(pathname + search, 'h2c'));
    deaf.socket.pause();
    await nextTurn(20);
    // More than the system buffers.
    lone.gateway.live.notification(7, { id: 1, content: 'x'.repeat(20_000_000) } as never);
    await eventually(() => expect(sockets()).to.equal(0));
    deaf.socket.resume();
    await deaf.ended;
    expect(deaf.text.length).to.be.below(20_000_000);
  });

  it('counts a connect whose address has a fragment as a connect', async () => {
    await stopGateways();
    lone = await startGateway({ GATEWAY_ENGINE: 'ws', RATE_LIMIT: 'on', SOCKET_HANDSHAKES: '10' });
    const open = async () => {
      const path = '/socket.io/?EIO=4&transport=polling';
      const { until, socket } = rawConnection(lone.base, rawGet(`${path}#&sid=x`));
      const answer = await until(/\r\n\r\n.+/s);
      socket.destroy();
      return answer.slice(9, 12);
    };
    for (let i = 0; i < 10; i += 1) expect(await open()).to.equal('200');
    expect(await open()).to.equal('429');
  });

  it('gives up what waits for a WebSocket that does not read, also after an upgrade', async () => {
    const { socket } = await connect(
      { token: 'member-7' },
      { transports: ['polling', 'websocket'] },
      lone.base,
    );
    await eventually(() => expect(socket.io.engine.transport.name).to.equal('websocket'));
    const closed = () => counted(metrics.socketsClosed, { reason: 'slow' });
    const before = await closed();
    // In one turn of the event loop nothing is read.
    for (let sent = 0; sent < 500 && sockets() > 0; sent += 1)
      lone.gateway.live.notification(7, { id: 1, content: 'x'.repeat(50_000) } as never);
    expect(sockets()).to.equal(0);
    expect(await closed()).to.equal(before + 1);
    socket.disconnect();
  });

  it('ends a WebSocket whose client does not answer the end, and reads nothing of it meanwhile', async () => {
    const raw = await rawSocket(lone.base);
    raw.send('40{"token":"member-7"}');
    await raw.next(/^40/);
    raw.socket.allowHalfOpen = true;
    mock.timers.enable({ apis: ['setTimeout'] });
    for (const { conn } of lone.io.of('/').sockets.values()) conn.close();
    raw.send('420["room:join",{"chatNo":1}]');
    await nextTurn(20);
    expect(raw.heard.some((text) => text.startsWith('430'))).to.equal(false);
    mock.timers.tick(UNREAD_MS);
    mock.timers.reset();
    // A connection that is gone answers with a reset, which the write after it notices.
    await eventually(() => {
      raw.send('2');
      expect(raw.socket.destroyed).to.equal(true);
    });
  });

  it('charges pings and pongs, which ws answers by itself, as frames', async () => {
    for (const first of [0x89, 0x8a]) {
      const raw = await rawSocket(lone.base);
      for (let sent = 0; sent < 20; sent += 1) raw.socket.write(clientFrame(Buffer.from('x'), { first }));
      await raw.next(/^44.*RATE_LIMITED/);
      await raw.closed;
    }
  });

  it('answers the request whose packet ends a session, and its client ends it, too', async () => {
    const session = await rawPolling(lone.base);
    await session.post(['40{"token":"member-7"}']);
    await session.poll();
    expect(await session.post(['41'])).to.equal(200);
    expect(sockets()).to.equal(0);
  });

  it('closes all its connections in the end, read or not', async () => {
    const opened: RawConnection[] = [];
    for (const request of ['', rawGet('/healthz'), rawGet('/socket.io/?EIO=4&transport=polling')])
      opened.push(rawConnection(lone.base, request));
    const raw = await rawSocket(lone.base);
    await stopGateways();
    await Promise.all([raw.closed, ...opened.map(({ ended }) => ended)]);
  });
});

describe('reusePort', () => {
  it('is in Node since 22.12 and 23.1', () => {
    const versions = ['20.20.2', '22.11.0', '22.12.0', '23.0.0', '23.1.0', '24.0.0', '26.10.0'];
    expect(versions.filter(hasReusePort)).to.deep.equal(['22.12.0', '23.1.0', '24.0.0', '26.10.0']);
  });
});
