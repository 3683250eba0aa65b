import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { rawRequest } from '../support/raw-connection.js';
import { handshakeRequest } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';
import { settled } from './sequenced-room.js';

/** A TCP connection that was there before, on which requests are sent one after another. */
async function keptConnection(port: number) {
  const socket = connectTcp(port, '127.0.0.1');
  await once(socket, 'connect');
  return {
    async ask(request: string): Promise<string> {
      socket.write(request);
      const [answer] = await once(socket, 'data');
      return String(answer);
    },
    closed: () => once(socket, 'close'),
    close: () => socket.destroy(),
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('a gateway that comes and goes', () => {
  let lone: LoneGateway;
  const opened: { close(): void }[] = [];
  afterEach(async () => {
    mock.reset();
    for (const one of opened.splice(0)) one.close();
    await stopGateways();
  });

  const client = (no: number) => connect({ token: `member-${no}` }, {}, lone.base);

  it('says so on connections that it has, and takes no new ones', async () => {
    lone = await startGateway({ DRAIN_WINDOW_MS: '60000' }, true);
    const kept = await keptConnection(lone.port);
    opened.push(kept);
    expect(await kept.ask(get('/readyz'))).to.match(/^HTTP\/1.1 200/);
    const staying = await client(7);
    mock.timers.enable({ apis: ['setTimeout'] });
    const drained = lone.gateway.drain();
    expect(await kept.ask(get('/readyz'))).to.match(/^HTTP\/1.1 503.*this process is going/s);
    expect(await kept.ask(handshakeRequest('EIO=4&transport=websocket'))).to.match(/^HTTP\/1.1 403/);
    expect(await rawRequest(lone.base, get('/healthz'), /\r\n\r\n/).catch(() => 'refused')).to.equal(
      'refused',
    );
    expect(staying.socket.connected).to.equal(true);
    mock.timers.tick(60_000);
    await drained;
    const closed = kept.closed();
    await lone.gateway.close();
    await closed;
  });

  it('leaves no timer behind, neither then nor where it could not start', async () => {
    const made = mock.method(globalThis, 'setInterval');
    const ended = mock.method(globalThis, 'clearInterval');
    const left = () => {
      const gone = ended.mock.calls.map(({ arguments: [timer] }) => timer);
      return made.mock.calls.filter(({ result }) => !gone.includes(result as never)).length;
    };
    lone = await startGateway({}, true);
    expect(left()).to.be.greaterThan(0);
    await lone.gateway.drain();
    expect(left()).to.equal(0);
    lone = await startGateway();
    const running = left();
    const { port } = lone;
    const refusal = await startGateway({ GATEWAY_PORT: String(port) }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    expect(refusal).to.match(new RegExp(`^GATEWAY_PORT: .+:${port} is taken`));
    expect(left()).to.equal(running);
  });

  it('tells its clients, and closes them at random moments of the time it told', async () => {
    lone = await startGateway({ DRAIN_WINDOW_MS: '1000' }, true);
    const clients = [await client(1), await client(2), await client(3)];
    const closed: string[] = [];
    for (const [i, { socket }] of clients.entries()) {
      socket.on('disconnect', (reason) => closed.push(`${i + 1}: ${reason}`));
    }
    const moments = [0.5, 0, 0.999];
    mock.method(Math, 'random', () => moments.shift() ?? 0);
    mock.timers.enable({ apis: ['setTimeout'] });
    let isDrained = false;
    const drained = lone.gateway.drain().then(() => {
      isDrained = true;
    });
    for (const { next } of clients) expect(await next('drain')).to.deep.equal({ retryAfterMs: 1_000 });
    await settled();
    expect(closed).to.deep.equal([]);
    /** Past a moment, in ms, of the time: who has been closed by then. */
    async function by(ms: number, count: number): Promise<void> {
      mock.timers.tick(ms);
      while (closed.length < count) await settled();
      await settled();
      expect(closed).to.have.length(count);
    }
    await by(1, 1);
    await by(498, 1);
    await by(1, 2);
    await by(498, 2);
    expect(isDrained).to.equal(false);
    await by(2, 3);
    await drained;
    expect(closed).to.deep.equal(['2: transport close', '1: transport close', '3: transport close']);
  });

  it('and alone closes them at once', async () => {
    lone = await startGateway({ DRAIN_WINDOW_MS: '60000' });
    const { socket, next } = await client(7);
    const closed = once(socket as never, 'disconnect');
    await lone.gateway.drain();
    expect(await next('drain')).to.deep.equal({ retryAfterMs: 60_000 });
    await closed;
    await lone.gateway.close();
    expect(await rawRequest(lone.base, get('/healthz'), /\r\n\r\n/).catch(() => 'refused')).to.equal(
      'refused',
    );
  });

  it('takes no port that another one has, and shares its own with none unless it is one of several', async () => {
    const settings = { GATEWAY_PORT: String(await freePort()) };
    lone = await startGateway(settings);
    for (const joined of [false, true]) {
      const other = await startGateway(settings, joined).catch(({ message }) => message);
      expect(other).to.equal(`GATEWAY_PORT: 127.0.0.1:${lone.port} is taken`);
    }
    await stopGateways();
    const both = [await startGateway(settings, true), await startGateway(settings, true)];
    expect(both.map(({ port }) => port)).to.deep.equal([lone.port, lone.port]);
  });
});
