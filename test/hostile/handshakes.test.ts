import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { counted } from '../support/counted.js';
import { engineNames } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { rawConnection, rawGet, rawRequest } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { handshakeRequest, type RawSocket, rawSocket } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';

const OPEN = '/socket.io/?EIO=4&transport=polling';

const refused = (limit: string) => counted(metrics.limitHits, { limit });

describe('connects of one address', () => {
  let lone: LoneGateway;
  const opened: RawSocket[] = [];
  afterEach(async () => {
    mock.timers.reset();
    for (const { socket } of opened.splice(0)) socket.destroy();
    await stopGateways();
  });

  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(lone.base + path, { headers })).status;

  /** WebSockets that send nothing. */
  async function silent(count: number): Promise<RawSocket[]> {
    const made = await Promise.all(Array.from({ length: count }, () => rawSocket(lone.base)));
    opened.push(...made);
    return made;
  }

  it('11: are limited in number: the next is answered 429 with the time to wait, by either transport', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    const before = await refused('handshakes');
    const member = await connect({ token: 'member-7' }, {}, lone.base);
    for (let i = 1; i < 10; i += 1) expect(await statusOf(OPEN)).to.equal(200);
    const answer = await fetch(lone.base + OPEN);
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
      ...[429, 'application/json;charset=UTF-8'],
    ]);
    expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 10);
    expect(await answer.json()).to.include({ status: 429, message: 'RATE_LIMITED' });
    const upgrade = await rawRequest(lone.base, handshakeRequest(), /RATE_LIMITED/);
    expect(upgrade).to.match(/^HTTP\/1\.1 429 Too Many Requests\r\n/);
    expect(await refused('handshakes')).to.equal(before + 2);
    // Whoever is connected is not concerned, and refused connects do not prolong the wait.
    expect(await member.ask('room:join', { chatNo: 1 })).to.include({ status: 200 });
    mock.timers.tick(10_000);
    expect(await statusOf(OPEN)).to.equal(200);
  });

  it('are retried by Socket.IO’s client itself, so that a crowd behind one address comes in', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    for (let i = 0; i < 10; i += 1) await statusOf(OPEN);
    const waiting = connect(
      { token: 'member-7' },
      { reconnection: true, reconnectionDelay: 10, reconnectionDelayMax: 10 },
      lone.base,
    ).catch((error: Error) => error);
    expect(await waiting).to.be.an('error');
    mock.timers.tick(10_000);
    await eventually(() => expect(lone.io.of('/').sockets.size).to.equal(1));
  });

  it('count with requests of unknown sessions; requests of a session, and of other paths, do not', async () => {
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    const session = await rawPolling(lone.base);
    await session.post(['40{"token":"member-7"}']);
    for (let i = 0; i < 30; i += 1) expect(await session.post(['3'])).to.equal(200);
    for (let i = 0; i < 30; i += 1) expect(await statusOf('/nowhere')).to.equal(404);
    for (const path of [`${OPEN}&sid=forged`, `${OPEN}&sid=__proto__`, '/socket.io/'])
      for (let i = 0; i < 3; i += 1) expect(await statusOf(path), path).to.equal(400);
    expect(await statusOf(OPEN)).to.equal(429);
    // Whoever watches the process is not refused.
    for (const path of ['/healthz', '/readyz', '/metrics']) expect(await statusOf(path), path).to.equal(200);
  });

  it('count if the session named last is none, by either transport; Engine.IO reads that one', async () => {
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    const { searchParams } = new URL((await rawPolling(lone.base)).url);
    const live = `sid=${searchParams.get('sid')}`;
    const open = [`${OPEN}&${live}&sid=`, `${OPEN}&${live}&s%69d=`, `${OPEN}&s%69d=x&${live}&sid`];
    for (let i = 0; i < 9; i += 1) expect(await statusOf(open[i % 3] as string)).to.equal(200);
    for (const path of open) {
      expect(await statusOf(path), path).to.equal(429);
      const upgrade = handshakeRequest(path.split('?')[1]?.replace('polling', 'websocket'));
      expect(await rawRequest(lone.base, upgrade, /RATE_LIMITED/)).to.match(/^HTTP\/1\.1 429 /);
    }
    const named = await fetch(`${lone.base}${OPEN}&sid=x&s%69d=${live.slice(4)}`, {
      method: 'POST',
      body: '3',
    });
    expect(named.status).to.equal(200);
  });

  it('are refused beyond the most connections of an address, admitted or not, until one ends', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    lone = await startGateway({ SOCKET_CONNECTIONS: '10', TRUST_PROXY: '1' });
    const before = await refused('connections');
    const [first] = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) =>
        connect({ token: `member-${i + 1}` }, { extraHeaders: from('198.51.100.7') }, lone.base),
      ),
      ...Array.from({ length: 4 }, () => statusOf(OPEN, from('198.51.100.7'))),
    ]);
    for (let i = 0; i < 2; i += 1) {
      expect(await statusOf(OPEN, from('198.51.100.7'))).to.equal(429);
      // Not forgotten with the window either.
      mock.timers.tick(10_000);
    }
    expect(await refused('connections')).to.equal(before + 2);
    expect(await statusOf(OPEN, from('198.51.100.8'))).to.equal(200);
    (first as Awaited<ReturnType<typeof connect>>).socket.disconnect();
    await eventually(async () => expect(await statusOf(OPEN, from('198.51.100.7'))).to.equal(200));
    expect(await statusOf(OPEN, from('198.51.100.7'))).to.equal(429);
  });

  it('do not count as connects if a page only asks whether it may connect, and their refusal can be read by a page', async () => {
    const page = 'http://localhost:3000';
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    const ask = (method: string) =>
      fetch(lone.base + OPEN, {
        method,
        headers: { Origin: page, 'Access-Control-Request-Method': 'POST' },
      });
    for (let i = 0; i < 20; i += 1) expect((await ask('OPTIONS')).status).to.equal(204);
    for (let i = 0; i < 10; i += 1) expect((await ask('GET')).status).to.equal(200);
    const { status, headers } = await ask('GET');
    expect(status).to.equal(429);
    expect(Object.fromEntries(headers)).to.include({
      'access-control-allow-origin': page,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'Retry-After',
      vary: 'Origin',
    });
  });

  it('do not count if a foreign page makes them, by scripts, images or frames', async () => {
    lone = await startGateway({ SOCKET_HANDSHAKES: '10' });
    for (const header of [
      'Origin: https://evil.example.org',
      'Sec-Fetch-Mode: no-cors',
      'Sec-Fetch-Mode: navigate',
    ])
      for (const query of ['EIO=4&transport=websocket', 'EIO=4&transport=polling', 'sid=x'])
        for (let i = 0; i < 4; i += 1)
          expect(await rawRequest(lone.base, handshakeRequest(query, [header]), /FORBIDDEN/)).to.match(
            / 403 /,
          );
    expect(await statusOf(OPEN, { Origin: 'http://localhost:3000' })).to.equal(200);
  });

  it('are told apart by network: the address behind trusted proxies, of IPv6 the /64', async () => {
    lone = await startGateway({ SOCKET_HANDSHAKES: '10', TRUST_PROXY: '1' });
    for (const [first, same, another] of [
      ['203.0.113.9', '203.0.113.9', '203.0.113.10'],
      ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ] as const) {
      for (let i = 0; i < 10; i += 1) expect(await statusOf(OPEN, from(first))).to.equal(200);
      expect(await statusOf(OPEN, from(same)), same).to.equal(429);
      expect(await statusOf(OPEN, from(another)), another).to.equal(200);
    }
    // A proxy that adds a line of its own leaves the client's before it.
    const lines = ['X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 203.0.113.9'];
    const upgrade = await rawRequest(lone.base, handshakeRequest(undefined, lines), /\r\n\r\n/);
    expect(upgrade).to.match(/^HTTP\/1\.1 429 /);
  });

  it('11: are limited in how many are not admitted: each that is, or ends, makes room', async () => {
    lone = await startGateway({ SOCKET_UNADMITTED: '10' });
    const before = await refused('unadmitted');
    const [first, second] = await silent(10);
    expect(await statusOf(OPEN)).to.equal(429);
    expect(await refused('unadmitted')).to.equal(before + 1);
    first?.send('40{"token":"member-7"}');
    await first?.next(/^40/);
    const session = await rawPolling(lone.base);
    expect(await statusOf(OPEN)).to.equal(429);
    await session.post(['40{"token":"member-8"}']);
    await session.poll();
    await rawPolling(lone.base);
    expect(await statusOf(OPEN)).to.equal(429);
    second?.socket.destroy();
    await eventually(async () => expect(await statusOf(OPEN)).to.equal(200));
    // A member's end makes no room twice.
    first?.socket.destroy();
    await eventually(() => expect(lone.io.of('/').sockets.size).to.equal(1));
    expect(await statusOf(OPEN)).to.equal(429);
  });

  for (const engine of engineNames) {
    it(`that are refused, and other requests, end their connection, and what follows is not looked at: ${engine}`, async () => {
      lone = await startGateway({ GATEWAY_ENGINE: engine, SOCKET_HANDSHAKES: '10' });
      for (let i = 0; i < 10; i += 1) expect(await statusOf(OPEN)).to.equal(200);
      for (let i = 0; i < 50; i += 1) expect(await statusOf('/nowhere')).to.equal(404);
      const before = (await refused('others')) + (await refused('handshakes'));
      const requests: [request: string, status: number][] = [
        [rawGet('/nowhere'), 429],
        [rawGet(OPEN), 429],
        [rawGet(OPEN, '', 'Origin: https://evil.example.org'), 403],
      ];
      for (const [request, status] of requests) {
        const single = rawConnection(lone.base, request);
        await single.ended;
        expect(single.text).to.match(new RegExp(`^HTTP/1\\.1 ${status} .*\r\nConnection: close\r\n`, 's'));
        const flood = rawConnection(lone.base, request.repeat(100));
        await flood.ended;
        expect(flood.text.match(/HTTP\/1\.1 /g) ?? []).to.have.length.at.most(1);
      }
      expect((await refused('others')) + (await refused('handshakes'))).to.equal(before + 4);
    });
  }
});
