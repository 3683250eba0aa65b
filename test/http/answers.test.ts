import { expect } from 'chai';
import { pino } from 'pino';
import { metrics } from '../../domain/platform/metrics.js';
import { listCloseReasons } from '../../gateway/close-reasons.js';
import { clientEvents } from '../../gateway/events/index.js';
import { createApp } from '../../http/app.js';
import type { StreamHub } from '../../http/sse/stream-hub.js';
import { call, member } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { answerTo } from '../support/http-server.js';
import { rawConnection } from '../support/raw-connection.js';
import { service } from '../support/service.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('every answer', () => {
  it('carries the id of its request, a new one where that was none, and keeps its type', async () => {
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

  it('is counted by its method, the pattern of its path and its status', async () => {
    const me = await member();
    const asked: [string, string, number, () => Promise<unknown>][] = [
      ['GET', '/community/article/:articleId', 404, () => call('/community/article/999999999')],
      ['GET', '/notification/all', 200, () => me.get('/notification/all')],
      ['POST', '/community/heart', 400, () => me.post('/community/heart', {})],
      ['GET', 'none', 404, () => call('/nowhere')],
      ['GET', '/notification/all', 401, () => call('/notification/all')],
    ];
    const counted = async (method: string, route: string, status: number) =>
      (await metrics.httpRequests.get()).values.find(
        ({ metricName, labels }) =>
          metricName?.endsWith('_count') &&
          labels.method === method &&
          labels.route === route &&
          labels.status === status,
      )?.value ?? 0;
    for (const [method, route, status, ask] of asked) {
      const before = await counted(method, route, status);
      await ask();
      await eventually(async () => expect(await counted(method, route, status)).to.equal(before + 1));
    }
    const times = (await metrics.httpRequests.get()).values.filter(({ metricName }) =>
      metricName?.endsWith('_sum'),
    );
    for (const { value } of times) expect(value, 'seconds').to.be.within(1e-6, 60);
  });

  it('that there is nothing at a path repeats no more than its beginning', async () => {
    const errors = async (path: string) => (await call<{ errors: string[] }>(path)).body.errors;
    expect(await errors(`/${'x'.repeat(199)}`)).to.deep.equal([`no such path: /${'x'.repeat(199)}`]);
    expect(await errors(`/${'x'.repeat(200)}`)).to.deep.equal([`no such path: /${'x'.repeat(199)}…`]);
    const { body } = await call<{ errors: string[] }>('/chatroom/1', { method: 'PATCH' });
    expect(body.errors[0]).to.match(/^\/chatroom\/1 takes .*POST/);
  });

  it('of figures is of the type that Prometheus reads', async () => {
    const { headers, text } = await call('/metrics');
    expect(headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(text).to.match(/^# HELP /);
  });

  it('that fails on its way is logged, but where the client went away or stopped speaking HTTP', async () => {
    const { domain, config } = await service();
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const sockets = { port: 0, events: clientEvents, closeReasons: listCloseReasons() };
    const app = createApp(domain, {} as StreamHub, config, logger, async () => {}, sockets);
    const ofClient = ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'HPE_INVALID_CHUNK_SIZE'];
    for (const code of ofClient) app.emit('error', Object.assign(new Error('gone'), { code }));
    expect(lines).to.deep.equal([]);
    app.emit('error', Object.assign(new Error('cut short'), { code: 'EIO' }));
    app.emit('error', new Error('of no kind'));
    expect(lines.map((line) => JSON.parse(line).err.message)).to.deep.equal(['cut short', 'of no kind']);
  });

  it('comes in the time that requests and idle connections have', async () => {
    const { http } = await service();
    const client = rawConnection(http, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await client.until(/\}/);
    // Node itself holds these; waiting for them takes as long as they are.
    expect(answerTo(client.socket)?.server).to.include({
      ...{ headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 5_000 },
    });
    client.socket.destroy();
  });
});
