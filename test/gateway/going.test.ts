import { once } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { hasReusePort } from '../../gateway/engine/engine.ws.js';
import { freePort } from '../../scripts/command/ports.js';
import { engineName } from '../support/engine.js';
import { type RawConnection, rawConnection, rawGet, rawRequest } from '../support/raw-connection.js';
import { handshakeRequest } from '../support/raw-socket.js';
import { connect } from '../support/sockets.js';
import { fakeTime } from '../support/time.js';
import { type LoneGateway, startGateway, stopGateways } from './gateway-alone.js';
import { settled } from './order/sequenced-room.js';

describe('a gateway that starts and stops', () => {
  let lone: LoneGateway;
  let kept: RawConnection | undefined;
  afterEach(async () => {
    mock.reset();
    kept?.socket.destroy();
    await stopGateways();
  });

  const client = (no: number) => connect({ token: `member-${no}` }, {}, lone.base);
  const asked = () => rawRequest(lone.base, rawGet('/healthz'), /\r\n\r\n/).catch(() => 'refused');

  it('answers 503 on open connections while it drains, and accepts no new ones', async () => {
    lone = await startGateway({ DRAIN_WINDOW_MS: '60000' }, true);
    kept = rawConnection(lone.base);
    const { socket, until, ended } = kept;
    const ask = (request: string) => {
      socket.write(request);
      return until(/\r\n\r\n/);
    };
    expect(await ask(rawGet('/readyz'))).to.match(/^HTTP\/1.1 200/);
    const staying = await client(7);
    mock.timers.enable({ apis: ['setTimeout'] });
    const drained = lone.gateway.drain();
    expect(await ask(rawGet('/readyz'))).to.match(/^HTTP\/1.1 503.*this process is shutting down/s);
    expect(await ask(handshakeRequest('EIO=4&transport=websocket'))).to.match(/^HTTP\/1.1 503/);
    expect(await asked()).to.equal('refused');
    expect(staying.socket.connected).to.equal(true);
    mock.timers.tick(60_000);
    await drained;
    await lone.gateway.close();
    await ended;
  });

  it('leaves no timer behind after a stop or a failed start', async () => {
    const made = mock.method(globalThis, 'setInterval');
    const ended = mock.method(globalThis, 'clearInterval');
    const left = () => {
      const gone = ended.mock.calls.map(({ arguments: [timer] }) => timer);
      return made.mock.calls.filter(({ result }) => !gone.includes(result as never)).length;
    };
    lone = await startGateway({}, true);
    expect(left()).to.be.greaterThan(0);
    await lone.gateway.drain();
    await lone.gateway.close();
    expect(left()).to.equal(0);
    lone = await startGateway();
    const running = left();
    const { port } = lone;
    const refusal = await startGateway({ GATEWAY_PORT: String(port) }).catch(({ message }) => message);
    expect(refusal).to.match(new RegExp(`^GATEWAY_PORT: .+:${port} is taken`));
    expect(left()).to.equal(running);
  });

  it('announces the drain window to its clients, and closes them at random moments of it', async () => {
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
    /** Advances the time, ms, and expects this many clients to be closed. */
    async function pass(ms: number, count: number): Promise<void> {
      mock.timers.tick(ms);
      while (closed.length < count) await settled();
      await settled();
      expect(closed).to.have.length(count);
    }
    await pass(1, 1);
    await pass(498, 1);
    await pass(1, 2);
    await pass(498, 2);
    expect(isDrained).to.equal(false);
    await pass(2, 3);
    await drained;
    expect(closed).to.deep.equal(['2: transport close', '1: transport close', '3: transport close']);
  });

  it('compares rooms and renews budgets until its clients are closed', async () => {
    const time = fakeTime();
    try {
      lone = await startGateway({ DRAIN_WINDOW_MS: '20000', SOCKET_FRAMES: '100' }, true);
      const { ask } = await client(7);
      /** Uses up more than half of the frames of 10 s. */
      const joinOften = () => Promise.all(Array.from({ length: 60 }, () => ask('room:join', { chatNo: 1 })));
      await joinOften();
      mock.method(Math, 'random', () => 0.9);
      const drained = lone.gateway.drain();
      await time.pass(10_000);
      const compared = lone.log.filter(([what]) => what === 'compared');
      expect(compared).to.deep.equal([
        ['compared', 1],
        ['compared', 1],
      ]);
      for (const answer of await joinOften()) expect(answer).to.include({ status: 200 });
      await time.pass(10_000);
      await drained;
    } finally {
      time.restore();
    }
  });

  it('closes its clients at once if its process is the only one', async () => {
    lone = await startGateway({ DRAIN_WINDOW_MS: '60000' });
    const { socket, next } = await client(7);
    const closed = once(socket as never, 'disconnect');
    await lone.gateway.drain();
    expect(await next('drain')).to.deep.equal({ retryAfterMs: 60_000 });
    await closed;
    await lone.gateway.close();
    expect(await asked()).to.equal('refused');
  });

  it('50: refuses a taken port, and shares its own only if it is one of several', async () => {
    const settings = { GATEWAY_PORT: String(await freePort()) };
    lone = await startGateway(settings);
    const taken = new RegExp(`^GATEWAY_PORT: 127.0.0.1:${lone.port} is taken by process \\d+ \\(node `);
    const sharesPorts = (await engineName) === 'uws' || hasReusePort(process.versions.node);
    for (const joined of [false, true]) {
      const other = await startGateway(settings, joined).catch(({ message }) => message);
      expect(other).to.match(taken);
      if (!sharesPorts && joined)
        expect(other).to.include('; with the engine ws').and.include('GATEWAY_INSTANCES=1');
    }
    await stopGateways();
    if (!sharesPorts) return;
    const both = [await startGateway(settings, true), await startGateway(settings, true)];
    expect(both.map(({ port }) => port)).to.deep.equal([lone.port, lone.port]);
  });
});
