import { once } from 'node:events';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { NotificationView } from '../../domain/kernel/live.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { type Member, member } from '../support/api.js';
import { eventually, nextTurn } from '../support/eventually.js';
import { answerTo, serveHttp } from '../support/http-server.js';
import { memoryTaken } from '../support/memory.js';
import { type RawConnection, rawConnection, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';

/** Settings of one process of several; Redis itself is not used here. */
const ONE_OF_SEVERAL: Partial<Config> = {
  REDIS_URL: 'redis://127.0.0.1:1',
  DRAIN_WINDOW_MS: 10_000,
  SHUTDOWN_TIMEOUT_MS: 20_000,
};

const COMPLETE = /\r\n\r\n[\s\S]*\}/;

describe('an HTTP server during a stop', () => {
  let me: Member;
  const clients: RawConnection[] = [];
  /** Answers the list of notifications. */
  let list: () => Promise<NotificationView[]>;

  beforeEach(async () => {
    me = await member();
    list = async () => [];
  });
  afterEach(() => {
    mock.timers.reset();
    for (const { socket } of clients.splice(0)) socket.destroy();
  });

  async function serve(settings: Partial<Config> = {}) {
    const { domain } = await service();
    const notifications = { ...domain.notifications, list: () => list() };
    const { server, port, base } = await serveHttp(settings, { notifications });
    return {
      port,
      client(request = ''): RawConnection {
        const client = rawConnection(base, request);
        clients.push(client);
        return client;
      },
      /** @returns whether it has stopped, as of now */
      drain() {
        let isOver = false;
        const over = server.drain().then(() => {
          isOver = true;
        });
        return { over, isOver: () => isOver };
      },
    };
  }

  const get = (path: string) => rawGet(path, me.token);

  it('accepts no new connections, and closes the others with their next answer', async () => {
    const { port, client, drain } = await serve(ONE_OF_SEVERAL);
    let answer: ((records: NotificationView[]) => void) | undefined;
    const idle = client(get('/healthz'));
    expect(await idle.until(COMPLETE)).to.match(/Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n/);
    list = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const busy = client(get('/notification/all'));
    await eventually(() => expect(answer).to.be.a('function'));

    const { over, isOver } = drain();
    const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
    answer?.([]);
    expect(await busy.until(/\[\]/)).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: close\r\n/);
    await busy.ended;
    expect([idle.isEnded, isOver()], 'its next request may be on its way').to.deep.equal([false, false]);
    idle.socket.write(get('/healthz'));
    expect(await idle.until(COMPLETE)).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: close\r\n/);
    await idle.ended;
    await over;
  });

  it('serves one more request where the last answer was complete before the stop', async () => {
    const { client, drain } = await serve(ONE_OF_SEVERAL);
    list = async () => [{ content: 'x'.repeat(12_000_000) } as NotificationView];
    const slow = client();
    slow.socket.pause();
    slow.socket.write(get('/notification/all'));
    await eventually(() => expect(answerTo(slow.socket)?.response.writableEnded).to.equal(true));
    const { over } = drain();
    slow.socket.resume();
    expect(await slow.until(/\}\]\n$/)).to.match(/^HTTP\/1\.1 200 [\s\S]{0,1000}Connection: keep-alive\r\n/);
    await nextTurn(5);
    slow.socket.write(get('/healthz'));
    expect(await slow.until(COMPLETE)).to.match(/^HTTP\/1\.1 200 [\s\S]*Connection: close\r\n/);
    await slow.ended;
    await over;
  });

  it('closes idle and unused connections after the keep-alive time, or most of the stop, a single process at once', async () => {
    for (const [settings, idleMs] of [
      [ONE_OF_SEVERAL, 15_000],
      [{ ...ONE_OF_SEVERAL, SHUTDOWN_TIMEOUT_MS: 4_000 }, 3_000],
      [{ ...ONE_OF_SEVERAL, KEEP_ALIVE_MS: 6_000 }, 6_000],
      [{}, 0],
    ] as const) {
      const { client, drain } = await serve(settings);
      const [used, unused] = [client(get('/healthz')), client()];
      await Promise.all([used.until(COMPLETE), once(unused.socket, 'connect')]);
      mock.timers.enable({ apis: ['setTimeout'] });
      const { over, isOver } = drain();
      await nextTurn(5);
      if (idleMs > 0) {
        mock.timers.tick(idleMs - 1);
        await nextTurn(5);
        expect([used.isEnded, unused.isEnded, isOver()]).to.deep.equal([false, false, false]);
      }
      mock.timers.tick(idleMs > 0 ? 1 : 0);
      await Promise.all([used.ended, unused.ended, over]);
      mock.timers.reset();
    }
  });

  it('waits three seconds for a request that hangs', async () => {
    const { client, drain } = await serve();
    const hanging = client(
      'POST /chatroom/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n',
    );
    await hanging.until(/^HTTP\/1\.1 100 /);
    mock.timers.enable({ apis: ['setTimeout'] });
    const { over, isOver } = drain();
    await nextTurn(5);
    mock.timers.tick(2_999);
    await nextTurn(5);
    expect([hanging.isEnded, isOver()]).to.deep.equal([false, false]);
    mock.timers.tick(1);
    await Promise.all([hanging.ended, over]);
  });

  it('ends event streams with their connections over the drain window, a single process at once', async () => {
    for (const [settings, moment] of [
      // Longer than the time of idle connections and hanging requests.
      [ONE_OF_SEVERAL, 9_000],
      [{}, 0],
    ] as const) {
      const { client, drain } = await serve(settings);
      const stream = client(get('/notification/connect'));
      await stream.until(/EventStream Created/);
      mock.timers.enable({ apis: ['setTimeout'] });
      const random = mock.method(Math, 'random', () => 0.9);
      const { over } = drain();
      random.mock.restore();
      if (moment > 0) {
        mock.timers.tick(moment - 1);
        await nextTurn(5);
        expect(stream.isEnded).to.equal(false);
      }
      mock.timers.tick(1);
      await stream.ended;
      expect(stream.text).to.match(/\r\n0\r\n\r\n$/);
      await over;
      mock.timers.reset();
    }
  });

  it('keeps nothing of closed connections', async () => {
    const { client, drain } = await serve();
    const taken = await memoryTaken(20, async () => {
      const some = Array.from({ length: 20 }, () => client(rawGet('/healthz', '', 'Connection: close')));
      await Promise.all(some.map(({ ended }) => ended));
      clients.length = 0;
    });
    // A leaked connection takes 2 kB.
    expect(taken).to.be.below(400_000);
    await drain().over;
  });

  it('leaves no timer behind', async () => {
    const running = new Set<unknown>();
    const { setInterval: set, clearInterval: clear } = globalThis;
    mock.method(globalThis, 'setInterval', (...args: Parameters<typeof set>) => {
      const timer = set(...args);
      running.add(timer);
      return timer;
    });
    mock.method(globalThis, 'clearInterval', (timer: Parameters<typeof clear>[0]) => {
      running.delete(timer);
      clear(timer);
    });
    const [begun, ended] = [mock.method(globalThis, 'setTimeout'), mock.method(globalThis, 'clearTimeout')];
    try {
      const { drain } = await serve();
      expect(running.size).to.be.above(0);
      await drain().over;
      expect(running.size).to.equal(0);
      const waits = begun.mock.calls.filter(({ arguments: [, ms] }) => ms === 3_000);
      expect(waits).to.have.length(1);
      expect(ended.mock.calls.map(({ arguments: [timer] }) => timer)).to.include(waits[0]?.result);
    } finally {
      mock.restoreAll();
    }
  });
});
