import { expect } from 'chai';
import { pino } from 'pino';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { createApp } from '../../http/app.js';
import type { StreamHub } from '../../http/sse/stream-hub.js';
import { call, member } from '../support/api.js';
import { counted } from '../support/counted.js';
import { eventually } from '../support/eventually.js';
import { answerTo, serveHttp } from '../support/http-server.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('every answer', () => {
  it('carries the request’s UUID, or a new one, and nosniff', async () => {
    const given = '0b8f3a52-9c1e-4d7a-8f00-1234567890ab';
    for (const path of ['/healthz', '/community/list/recent', '/chatroom', '/nowhere', '/docs']) {
      const kept = await call(path, { headers: { 'X-Request-Id': given } });
      expect(kept.headers.get('x-request-id'), path).to.equal(given);
      expect(kept.headers.get('x-content-type-options'), path).to.equal('nosniff');
      const ids = new Set<string | null>();
      for (const none of ['', 'nonsense', `${given}0`]) {
        const { headers } = await call(path, { headers: { 'X-Request-Id': none } });
        expect(headers.get('x-request-id'), path).to.match(UUID);
        ids.add(headers.get('x-request-id'));
      }
      expect(ids.size, 'each has its own').to.equal(3);
    }
  });

  it('is counted by method, path pattern and status', async () => {
    const me = await member();
    const asked: [string, string, number, () => Promise<unknown>][] = [
      ['GET', '/community/article/:articleId', 404, () => call('/community/article/999999999')],
      ['GET', '/notification/all', 200, () => me.get('/notification/all')],
      ['POST', '/community/heart', 400, () => me.post('/community/heart', {})],
      ['GET', 'none', 404, () => call('/nowhere')],
      ['GET', '/notification/all', 401, () => call('/notification/all')],
    ];
    for (const [method, route, status, ask] of asked) {
      const count = () => counted(metrics.httpRequests, { method, route, status });
      const before = await count();
      await ask();
      await eventually(async () => expect(await count()).to.equal(before + 1));
    }
    const times = (await metrics.httpRequests.get()).values.filter(({ metricName }) =>
      metricName?.endsWith('_sum'),
    );
    for (const { value } of times) expect(value, 'seconds').to.be.within(1e-6, 60);
  });

  it('of a probe is not counted: no member waits for it, and not ready is no failed request', async () => {
    const before = await counted(metrics.httpRequests);
    for (const path of ['/healthz', '/readyz', '/metrics?x=1', '/metrics/cluster']) await call(path);
    await call('/nowhere');
    await eventually(async () => expect(await counted(metrics.httpRequests)).to.equal(before + 1));
  });

  it('to Socket.IO on this port says where sockets are served', async () => {
    const { port } = new URL((await service()).gateway);
    const { status, body } = await call<{ errors: string[] }>('/socket.io/?EIO=4&transport=websocket');
    expect(status).to.equal(404);
    expect(body.errors).to.deep.equal([
      `no such path: /socket.io/; sockets connect to the gateway, on port ${port}`,
    ]);
  });

  it('repeats only the beginning of an unknown path', async () => {
    const errors = async (path: string) => (await call<{ errors: string[] }>(path)).body.errors;
    expect(await errors(`/${'x'.repeat(199)}`)).to.deep.equal([`no such path: /${'x'.repeat(199)}`]);
    expect(await errors(`/${'x'.repeat(200)}`)).to.deep.equal([`no such path: /${'x'.repeat(199)}…`]);
    const { body } = await call<{ errors: string[] }>('/chatroom/1', { method: 'PATCH' });
    expect(body.errors[0]).to.match(/^\/chatroom\/1 takes .*POST/);
  });

  it('of /metrics has Prometheus’ content type', async () => {
    const { headers, text } = await call('/metrics');
    expect(headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(text).to.match(/^# HELP /);
  });

  it('is logged if it fails while it is sent, unless the client disconnected or stopped speaking HTTP', async () => {
    const { domain, config } = await service();
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const sockets = { port: 0, requests, pushes };
    const app = createApp(domain, {} as StreamHub, config, logger, async () => {}, sockets);
    const ofClient = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'HPE_INVALID_CHUNK_SIZE'];
    for (const code of ofClient) app.emit('error', Object.assign(new Error('gone'), { code }));
    expect(lines).to.deep.equal([]);
    app.emit('error', Object.assign(new Error('cut short'), { code: 'EIO' }));
    app.emit('error', new Error('of no kind'));
    expect(lines.map((line) => JSON.parse(line).err.message)).to.deep.equal(['cut short', 'of no kind']);
  });

  it('still arrives after connections that could not be accepted', async () => {
    const { server, base } = await serveHttp();
    try {
      const client = rawConnection(base, rawGet('/healthz'));
      await client.until(/\}/);
      const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
      for (let i = 0; i < 2; i += 1) answerTo(client.socket)?.server.emit('error', error);
      expect((await fetch(`${base}/healthz`)).status).to.equal(200);
      client.socket.destroy();
    } finally {
      await server.drain();
    }
  });

  it('is subject to the time-outs of requests and idle connections', async () => {
    const { http } = await service();
    const client = rawConnection(http, rawGet('/healthz'));
    await client.until(/\}/);
    expect(client.text).to.match(/^Keep-Alive: timeout=5\r$/m);
    // Enforced by Node; waiting for them would take as long.
    expect(answerTo(client.socket)?.server).to.include({
      ...{ headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 65_000 },
      connectionsCheckingInterval: 1_000,
    });
    client.socket.destroy();
  });
});
