import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { Server } from 'socket.io';
import { serveOwnPort } from '../../domain/platform/observe/metrics/own-port.js';
import { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import { projectRoot } from '../../domain/platform/process/project-root.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { containCallbacks } from '../../gateway/engine/callbacks.uws.js';
import { freePort } from '../../scripts/command/ports.js';
import { type LoneGateway, startGateway, stopGateways } from '../gateway/gateway-alone.js';
import { engineNames } from '../support/engine.js';
import { eventually } from '../support/eventually.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';
import { rawPolling } from '../support/raw-polling.js';
import { rawSocket } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { createWatchedLogger } from '../support/unexpected-errors.js';
import { emittersOf, fail, failEach, failsAtLeastOnce, failsOnce } from './failing-callbacks.js';

describe('a callback of a connection that throws ends the connection, not the process', () => {
  afterEach(() => {
    mock.restoreAll();
    mock.timers.reset();
  });

  it('54: of the HTTP port', async () => {
    const { http } = await service();
    await failEach(http, () =>
      emittersOf(http, rawGet('/chatroom/notification', '', 'Content-Length: 9').replace('GET', 'POST')),
    );
  });

  it('54: of METRICS_PORT', async () => {
    const port = await freePort();
    const config = loadConfig({ METRICS_PORT: String(port) }, '/nonexistent');
    const own = await serveOwnPort('service', config, () => new Promise(() => {}), createWatchedLogger());
    const base = `http://127.0.0.1:${port}`;
    await failEach(base, () => emittersOf(base, rawGet('/readyz')));
    own?.close();
  });

  describe('at the gateway', () => {
    let lone: LoneGateway;
    afterEach(stopGateways);

    it('54: of the engine ws', async () => {
      lone = await startGateway({ GATEWAY_ENGINE: 'ws', RATE_LIMIT: 'off' });
      await failEach(lone.base, async () => {
        const { pathname, search } = new URL((await rawPolling(lone.base)).url);
        return emittersOf(lone.base, rawGet(pathname + search));
      });
    });

    it('54: of a WebSocket on ws', async () => {
      lone = await startGateway({ GATEWAY_ENGINE: 'ws', RATE_LIMIT: 'off' });
      const open = async () => {
        const raw = await rawSocket(lone.base);
        raw.send('40{"token":"member-7"}');
        await raw.next(/^40/);
        const conn = [...lone.io.of('/').sockets.values()].at(-1)?.conn as unknown as {
          transport: { socket: EventEmitter };
        };
        return { raw, emitter: conn.transport.socket };
      };
      const { emitter: first, raw } = await open();
      for (const event of first.eventNames() as string[]) {
        const { raw, emitter } = await open();
        emitter.prependOnceListener(event, fail);
        await failsOnce(new RegExp(`^WebSocket ${event}$`), () => void emitter.emit(event), event);
        await raw.closed;
      }
      raw.socket.destroy();
      expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
    });

    /** What uWebSockets.js calls, by its types: of a WebSocket, and of a response. */
    const types = readFileSync(
      join(projectRoot(), 'node_modules', 'uWebSockets.js', 'dist', 'index.d.mts'),
      'utf8',
    );
    const part = (name: string) =>
      types.slice(types.indexOf(`interface ${name}`)).split('\n}\n')[0] as string;
    const ofSockets = [...part('WebSocketBehavior').matchAll(/^ {2}(\w+)\?: \(/gm)].map(
      ([, name = '']) => name,
    );
    const ofResponses = [...part('HttpResponse').matchAll(/^ {2}(\w+)\((?:handler|cb): \(/gm)].map(
      ([, name = '']) => name,
    );

    it('54: of uWebSockets.js: each that it knows is contained', async () => {
      expect(ofSockets).to.include.members(['upgrade', 'message', 'dropped', 'close', 'subscription']);
      expect(ofResponses).to.include.members(['onAborted', 'onData', 'onWritable', 'cork']);
      const given: Record<string, (...args: unknown[]) => unknown> = {};
      const app = {
        any: (_: string, handler: never) => Object.assign(given, { request: handler }),
        filter: (handler: never) => Object.assign(given, { filter: handler }),
        ws: (_: string, behavior: object) => Object.assign(given, behavior),
      } as unknown as TemplatedApp;
      containCallbacks(app, new CallbackGuard(createWatchedLogger()));
      app.any('/*', fail);
      app.filter(fail);
      app.ws('/*', Object.fromEntries(ofSockets.map((name) => [name, fail])));
      expect(Object.keys(given)).to.have.members(['request', 'filter', ...ofSockets]);
      for (const [name, callback] of Object.entries(given)) {
        const closed = mock.fn();
        await failsOnce(new RegExp(`${name}$`), () => void callback({ close: closed, end: closed }), name);
        if (name !== 'close') await eventually(() => expect(closed.mock.callCount(), name).to.equal(1));
      }
      let handled: Record<string, (callback: () => void) => void> = {};
      app.any('/*', (res) => {
        handled = res as never;
      });
      const closed = mock.fn();
      const native = Object.fromEntries(
        ofResponses.map((name) => [name, (callback: () => void) => callback()]),
      );
      given.request?.(Object.assign(Object.create(native), { close: closed }));
      for (const name of ofResponses)
        await failsOnce(new RegExp(`${name}$`), () => handled[name]?.(fail), name);
      expect(closed.mock.callCount()).to.equal(ofResponses.length);
    });

    if (engineNames.includes('uws')) {
      /** Has one callback fail that Engine.IO gives uWebSockets.js. */
      async function startFailing(name: string): Promise<void> {
        const { attachApp } = Server.prototype;
        mock.method(
          Server.prototype,
          'attachApp',
          function (this: Server, app: TemplatedApp, options: object) {
            const failing = {
              publish: app.publish.bind(app),
              any: (path: string, handler: (res: HttpResponse, req: HttpRequest) => void) => {
                app.any(path, (res, req) => {
                  if (name === 'request') fail();
                  const given = res[name];
                  if (given) Object.assign(res, { [name]: () => given.call(res, fail) });
                  return handler(res, req);
                });
                return failing;
              },
              ws: (path: string, behavior: object) =>
                app.ws(path, { ...behavior, ...(name in behavior && { [name]: fail }) }),
            };
            attachApp.call(this, failing, options);
          },
        );
        lone = await startGateway({ GATEWAY_ENGINE: 'uws', RATE_LIMIT: 'off' });
      }

      const acts: Record<string, () => Promise<void>> = {
        request: () => rawConnection(lone.base, rawGet('/socket.io/?EIO=4&transport=polling')).ended,
        upgrade: async () => (await rawSocket(lone.base)).closed,
        open: async () => (await rawSocket(lone.base)).closed,
        message: async () => {
          const raw = await rawSocket(lone.base);
          raw.send('40{"token":"member-7"}');
          await raw.closed;
        },
        close: async () => {
          const raw = await rawSocket(lone.base);
          raw.socket.destroy();
          await raw.closed;
        },
      };
      for (const [name, act] of Object.entries(acts)) {
        it(`54: of Engine.IO on uWebSockets.js: ${name}`, async () => {
          mock.timers.enable({ apis: ['setInterval'] });
          await startFailing(name);
          await failsOnce(new RegExp(`${name}$`), act, name);
          // Later than any answer: what has been closed is not closed again, which would throw.
          const now = performance.now.bind(performance);
          mock.method(performance, 'now', () => now() + 60_000);
          mock.timers.tick(5_000);
          mock.restoreAll();
          expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
        });
      }
    }

    for (const engine of engineNames) {
      it(`54: of Engine.IO’s timers, and for other connections: ${engine}`, async () => {
        lone = await startGateway({ GATEWAY_ENGINE: engine, RATE_LIMIT: 'off' });
        for (const method of ['send', 'doClose']) {
          const raw = await rawSocket(lone.base);
          raw.send('40{"token":"member-7"}');
          await raw.next(/^40/);
          const conn = [...lone.io.of('/').sockets.values()].at(-1)?.conn as unknown as {
            transport: object;
            sendPacket(type: string): void;
            close(): void;
          };
          const prototype = Object.getPrototypeOf(conn.transport);
          // Below what contains it.
          Object.defineProperty(conn.transport, 'parser', { get: fail });
          Object.defineProperty(conn.transport, 'socket', { get: fail });
          await failsAtLeastOnce(() => (method === 'send' ? conn.sendPacket('ping') : conn.close()));
          expect(prototype).to.have.property(method);
          raw.socket.destroy();
        }
        expect((await fetch(`${lone.base}/healthz`)).status).to.equal(200);
      });
    }
  });
});
