import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../../scripts/command/ports.js';
import { runScript } from '../../scripts/script-runs.js';
import { eventually } from '../../support/eventually.js';
import { recordCounts } from '../../support/record-counts.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { connect, refusal } from '../../support/sockets.js';
import { hasNginx, startProxy, type TlsProxy } from './nginx.js';

interface ChatRoom {
  chatNo: number;
}

/** Longest time of an event that nothing delays, ms. */
const AT_ONCE_MS = 1_500;

describe('the nginx configuration of deploy/', () => {
  let service: ServiceProcess;
  let proxy: TlsProxy;
  let asker: string;
  let chatNo: number;

  before(async function () {
    if (!hasNginx) this.skip();
    service = await startServiceProcess({ TRUST_PROXY: '1', RATE_LIMIT: 'off' });
    const upstream = (base: string) => `server ${new URL(base).host} max_fails=0;`;
    // Next to a serving process, one that is down: clients must not notice.
    const dead = `server 127.0.0.1:${await freePort()} max_fails=1 fail_timeout=1s;`;
    proxy = await startProxy(`${dead} ${upstream(service.http)}`, `${dead} ${upstream(service.gateway)}`);
    asker = await service.token('asker@example.org');
    const json = { saleNo: service.saleNo, createMember: service.authorNo };
    await proxy.call('/chatroom', { method: 'POST', headers: { Authorization: asker }, json });
    const rooms = await proxy.call('/chatroom', { headers: { Authorization: asker } });
    chatNo = (JSON.parse(rooms.text) as ChatRoom[])[0]?.chatNo as number;
  });

  after(async () => {
    await proxy?.stop();
    await service?.stop();
  });

  /** Resolves once the service has that many open streams. */
  const openStreams = (count: number) =>
    eventually(async () => {
      const metrics = await (await fetch(`${service.http}/metrics`)).text();
      expect(metrics).to.match(new RegExp(`^adoption_event_streams_open\\{.*\\} ${count}$`, 'm'));
    });

  it('serves REST over TLS, and redirects plain HTTP', async () => {
    for (let i = 0; i < 6; i += 1) {
      const { status, text, headers } = await proxy.call('/community/list/recent');
      expect(status).to.equal(200);
      expect(JSON.parse(text)).to.have.property('list');
      expect(headers['strict-transport-security']).to.equal('max-age=31536000');
    }
    const plain = await fetch(`${proxy.plain}/community/list/recent?page=2`, { redirect: 'manual' });
    expect(plain.status).to.equal(308);
    expect(plain.headers.get('location')).to.match(/^https:.*\/community\/list\/recent\?page=2$/);
  });

  it('forwards errors and bodies of the service unchanged', async () => {
    const missing = await proxy.call('/community/article/999999');
    expect(missing.status).to.equal(404);
    expect(JSON.parse(missing.text)).to.include({ status: 404, message: 'ARTICLE_NOT_FOUND' });
    const json = { title: 'x'.repeat(2_000_000) };
    const large = await proxy.call('/community/article', {
      method: 'POST',
      headers: { Authorization: asker },
      json,
    });
    expect(large.status).to.equal(413);
    expect(JSON.parse(large.text).status).to.equal(413);
  });

  it('forwards a long Last-Event-ID with a token', async () => {
    const headers = { Authorization: asker, 'Last-Event-ID': 'x'.repeat(20_000) };
    const opened = await proxy.call('/notification/connect', { headers, until: /EventStream Created/ });
    expect(opened.status).to.equal(200);
  });

  it('does not publish metrics and health checks', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect((await proxy.call(path)).status, path).to.equal(404);
  });

  it('forwards each event of a stream at once', async () => {
    const author = await service.token('author@example.org');
    await openStreams(0);
    const stream = proxy.call('/notification/connect', {
      headers: { Authorization: author, Accept: 'text/event-stream', 'Accept-Encoding': 'gzip' },
      until: /"url":"\/chat/,
    });
    await openStreams(1);
    const json = { id: null, chatNo, contentType: 'text', content: 'is Bori well?' };
    const began = performance.now();
    const pushed = await proxy.call('/chatroom/notification', {
      method: 'POST',
      headers: { Authorization: asker },
      json,
    });
    expect(pushed.status, pushed.text).to.equal(200);
    const { status, headers, text, firstByteMs } = await stream;
    expect(performance.now() - began).to.be.below(AT_ONCE_MS);
    expect(firstByteMs).to.be.below(AT_ONCE_MS);
    expect(status).to.equal(200);
    expect(headers['content-type']).to.match(/^text\/event-stream/);
    expect(headers['content-encoding']).to.equal(undefined);
    expect(text).to.match(/^retry: \d+\nid: \d+_\d+\nevent: sse\ndata: EventStream Created/);
  });

  it('carries sockets', async () => {
    const client = await connect({ token: asker }, { ca: proxy.certificate }, proxy.base);
    const joined = await client.join(chatNo, 0);
    expect(joined.status).to.equal(200);
    const sent = await client.send(chatNo, 'over TLS');
    expect(sent.status).to.equal(200);
    await client.next<{ content: string }>('message', ({ content }) => content === 'over TLS');
    const refused = await refusal({ auth: { token: 'nonsense' }, ca: proxy.certificate }, proxy.base);
    expect(refused.data).to.include({ status: 401 });
  });

  it('carries load tests over TLS, which list what they keep', async () => {
    const before = await recordCounts(service.mongoUri);
    const authority = join(service.settings.DATA_DIR, 'ca.pem');
    writeFileSync(authority, proxy.certificate);
    const sizes = ['--members', '10', '--seconds', '0.1', '--runs', '1', '--clients', '1'];
    const { status, stdout, stderr } = await runScript(
      'scripts/load.js',
      ['fanout', '--http', proxy.base, '--gateway', proxy.base, ...sizes, '--rate', '50', '--keep'],
      { ...service.settings, NODE_EXTRA_CA_CERTS: authority },
    );
    expect(status, `${stdout}${stderr}`).to.equal(0);
    expect(stderr).to.match(
      /^kept: members \d+-\d+ \(load-\w+-1@run\.example\.org to load-\w+-2@run\.example\.org\), adoption posts \d+, rooms \d+$/m,
    );
    expect(stdout).to.match(/ 10 sockets\n/);
    const { messages, ...after } = await recordCounts(service.mongoUri);
    const { messages: earlier = 0, ...others } = before;
    expect(messages).to.be.greaterThan(earlier);
    const { members = 0, adoptionPosts = 0, rooms = 0 } = others;
    expect(after).to.deep.equal({
      ...{ ...others, members: members + 2, adoptionPosts: adoptionPosts + 1, rooms: rooms + 1 },
    });
  });

  it('gives the service the client’s address, whatever the client claims', async () => {
    const headers = { 'User-Agent': 'a phone' };
    const push = (from: string, more: Record<string, string> = {}) =>
      proxy.call('/chatroom/notification', {
        method: 'POST',
        from,
        headers: { ...headers, ...more },
        json: {
          id: null,
          chatNo,
          contentType: 'text',
          content: 'without a token',
          senderEmail: 'asker@example.org',
        },
      });
    // A member seen with a token from an address may push from there without one. (contract, section 4)
    const seen = await proxy.call(`/chatroom/${chatNo}`, {
      from: '127.0.0.2',
      headers: { ...headers, Authorization: asker },
    });
    expect(seen.status).to.equal(200);
    expect((await push('127.0.0.2')).status).to.equal(200);
    expect((await push('127.0.0.3')).status).to.equal(401);
    expect((await push('127.0.0.3', { 'X-Forwarded-For': '127.0.0.2' })).status).to.equal(401);
    // Or seen by a socket.
    const from = { localAddress: '127.0.0.3', extraHeaders: headers };
    const client = await connect({ token: asker }, { ca: proxy.certificate, ...from }, proxy.base);
    await client.join(chatNo, 0);
    expect((await push('127.0.0.3')).status).to.equal(200);
  });
});
