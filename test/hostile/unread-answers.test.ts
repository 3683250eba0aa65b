import { expect } from 'chai';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { counted } from '../support/counted.js';
import { eventually, nextTurn } from '../support/eventually.js';
import { type RawConnection, rawConnection, rawGet, rawRequest } from '../support/raw-connection.js';
import { type RawPolling, rawPolling } from '../support/raw-polling.js';
import { handshakeRequest } from '../support/raw-socket.js';

/** Most bytes that wait for a client. (PROTOCOL.md, the end of a connection) */
const MAX_WAITING = 1024 * 1024;

describe('answers of a gateway', () => {
  let lone: LoneGateway;
  const opened: RawConnection[] = [];
  afterEach(async () => {
    for (const { socket } of opened.splice(0)) socket.destroy();
    await stopGateways();
  });

  /** A connection that never reads. */
  function deaf(request: string): RawConnection {
    const connection = rawConnection(lone.base, request);
    connection.socket.pause();
    opened.push(connection);
    return connection;
  }

  async function member(): Promise<RawPolling> {
    const session = await rawPolling(lone.base);
    await session.post(['40{"token":"member-7"}']);
    await session.poll();
    return session;
  }

  const notice = (bytes: number) => ({ id: 1, content: 'x'.repeat(bytes) }) as never;
  const sockets = () => lone.io.of('/').sockets.size;

  it('are not sent to a client that reads none: the next request closes its connection', async () => {
    lone = await startGateway();
    // Read in full, an answer of any size may be followed by another.
    const reader = rawConnection(lone.base, rawGet('/metrics'));
    opened.push(reader);
    await reader.until(/\n$/);
    const { socket, ended } = deaf('');
    let isOpen = true;
    void ended.then(() => {
      isOpen = false;
    });
    for (let i = 0; isOpen && i < 20_000; i += 1) {
      socket.write(rawGet('/metrics'));
      await nextTurn(2);
    }
    socket.resume();
    await ended;
    reader.socket.write(rawGet('/healthz'));
    expect(await reader.until(/true\}\n$/)).to.match(/^HTTP\/1\.1 200/);
  });

  it('12: wait for a poll up to 1 MiB; then the connection is closed as slow', async () => {
    lone = await startGateway();
    const session = await member();
    for (let waiting = 0; waiting < MAX_WAITING; waiting += 100_000)
      lone.gateway.live.notification(7, notice(100_000));
    expect(sockets(), 'up to the limit').to.equal(1);
    expect(await session.poll(), 'all that waited').to.have.length(11);
    expect(sockets()).to.equal(1);
    const closed = () => counted(metrics.socketsClosed, { reason: 'slow' });
    const before = await closed();
    for (let sent = 0; sent < 20 && sockets() > 0; sent += 1)
      lone.gateway.live.notification(7, notice(100_000));
    expect(sockets()).to.equal(0);
    expect(await closed()).to.equal(before + 1);
  });

  it('to a poll that is not read end the connection with the next poll: only one may be unread', async () => {
    lone = await startGateway();
    const { url } = await member();
    const { pathname, search } = new URL(url);
    deaf(rawGet(pathname + search));
    await eventually(() => expect(lone.io.engine.clientsCount).to.equal(1));
    await nextTurn(20);
    // More than the system buffers.
    lone.gateway.live.notification(7, notice(20_000_000));
    await nextTurn(20);
    expect(sockets()).to.equal(1);
    // As Engine.IO's servers on uWebSockets.js and on ws answer.
    expect((await fetch(url)).status).to.be.oneOf([500, 400]);
    expect(sockets()).to.equal(0);
  });

  it('to a poll that is read slowly arrive whole, and the next poll is served', async () => {
    lone = await startGateway();
    const { url, poll } = await member();
    const { pathname, search } = new URL(url);
    const slow = deaf(rawGet(pathname + search));
    await nextTurn(20);
    lone.gateway.live.notification(7, notice(20_000_000));
    await nextTurn(20);
    slow.socket.resume();
    await slow.until(/x"\}\]$/);
    expect(slow.text.length).to.be.within(20_000_000, 20_001_000);
    lone.gateway.live.notification(7, notice(10));
    expect((await poll()).join()).to.include('"xxxxxxxxxx"');
    expect(sockets()).to.equal(1);
  });

  it('name no software, and are not to be taken for another type', async () => {
    lone = await startGateway({ SOCKET_HANDSHAKES: '20' });
    const polling = '/socket.io/?EIO=4&transport=polling';
    const heads = await Promise.all(
      ['/healthz', '/readyz', '/metrics', '/nowhere', polling, `${polling}&sid=forged`].map(async (path) => {
        const [head = ''] = (await rawRequest(lone.base, rawGet(path), /\r\n\r\n./s)).split('\r\n\r\n');
        return head;
      }),
    );
    const foreign = handshakeRequest(undefined, ['Origin: https://evil.example.org']);
    heads.push(await rawRequest(lone.base, foreign, /\r\n\r\n./s));
    for (let i = 0; i < 20; i += 1) await fetch(`${lone.base}${polling}&sid=forged`);
    heads.push(await rawRequest(lone.base, rawGet(`${polling}&sid=forged`), /\r\n\r\n./s));
    expect(heads.map((head) => head.slice(9, 12))).to.deep.equal([
      ...['200', '200', '200', '404', '200', '400', '403', '429'],
    ]);
    for (const head of heads) {
      expect(head).to.match(/\r\nX-Content-Type-Options: nosniff\r\n/);
      expect(head).not.to.match(/uWebSockets/i);
    }
    expect(await rawRequest(lone.base, handshakeRequest(), /\r\n\r\n/)).not.to.match(/uWebSockets/i);
  });
});
