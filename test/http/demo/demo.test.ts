import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { get, type RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import type { Domain } from '../../../domain/domain.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { createDemoRouter } from '../../../http/demo/demo.routes.js';
import { type DemoMember, introduceMembers, isSampleAddress } from '../../../http/demo/introduce-members.js';
import { call } from '../../support/api.js';
import { type ServedHttp, serveHttp } from '../../support/http-server.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';

interface Demo {
  gatewayPort: number;
  members: DemoMember[];
}

describe('the demo page', () => {
  let demo: ServiceProcess;

  before(async () => {
    demo = await startServiceProcess({ DEMO: 'on' });
  });
  after(() => demo.stop());

  it('may connect to its service and the gateway, and to nothing else', async () => {
    const page = await demo.anyone.get('/demo');
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const { host, port, hostname } = new URL(demo.gateway);
    expect(port).to.not.equal('0');
    const policy = page.headers.get('content-security-policy');
    expect(policy).to.include(`connect-src 'self' ws://${host} http://${host};`);
    expect(policy?.replaceAll(hostname, '')).to.not.match(/unsafe|\*|https:/);
    expect(page.headers.get('referrer-policy')).to.equal('no-referrer');
  });

  it('is what / leads to', async () => {
    expect((await fetch(demo.http)).url).to.equal(`${demo.http}/demo`);
  });

  it('puts no malformed host into its policy', async () => {
    const { port } = new URL(demo.http);
    const page = await requestWithHost(demo.http, `x;script-src'*':${port}`);
    expect(page).to.not.include('*');
  });

  it('comes with all of its files', async () => {
    const page = await demo.anyone.get('/demo');
    const scripts = new Map<string, string>();
    const paths = [...page.text.matchAll(/(?:src|href)="(\/(?:demo|docs)\/[^"]+)"/g)].map(
      ([, path]) => path as string,
    );
    while (paths.length > 0) {
      const path = paths.pop() as string;
      if (scripts.has(path)) continue;
      const { status, headers, text } = await demo.anyone.get(path);
      expect(status, path).to.equal(200);
      scripts.set(path, headers.get('content-type') ?? '');
      if (path.endsWith('socket.io.js')) continue;
      for (const [, name] of text.matchAll(/from '\.\/([\w.-]+)'/g)) paths.push(`/demo/${name}`);
    }
    expect(scripts.get('/demo/socket.io.js')).to.equal('text/javascript; charset=utf-8');
    expect(scripts.get('/demo/demo.css')).to.equal('text/css; charset=utf-8');
    const picture = await demo.anyone.get('/demo/pets/dog-1.svg');
    expect(picture.headers.get('content-type')).to.equal('image/svg+xml');
    expect(picture.headers.get('content-security-policy'), 'of the page alone').to.equal(null);
  });

  it('gets tokens of sample members, and the port of the gateway', async () => {
    // A member whose address may be somebody's is never spoken for.
    await demo.as(await demo.token('someone@mail.kr')).get('/chatroom');
    const { status, headers, body } = await demo.anyone.get<Demo>('/demo/tokens');
    expect(status).to.equal(200);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(body.gatewayPort).to.equal(Number(new URL(demo.gateway).port));
    expect(body.members.map(({ email }) => email)).to.deep.equal(['author@example.org']);
    const [author] = body.members;
    expect(author).to.include({ no: demo.authorNo, profile: '' });
    expect(author?.nickname).to.be.a('string').that.is.not.empty;
    expect(author?.posts).to.deep.equal([demo.saleNo]);
    const { exp = 0, iat = 0 } = decodeJwt(author?.token ?? '');
    expect(exp - iat, 'seconds').to.equal(2 * 3_600);
    const rooms = await demo.as(author?.token ?? '').get('/chatroom');
    expect(rooms.status).to.equal(200);
  });

  it('is counted by its paths', async () => {
    const { text } = await demo.anyone.get('/metrics');
    for (const route of ['/demo', '/demo/main.js', '/demo/tokens'])
      expect(text).to.include(`route="${route}"`);
  });

  it('gives no tokens to pages of other origins, allowed or not', async () => {
    for (const origin of ['http://localhost:3000', 'https://elsewhere.example']) {
      const answer = await demo.anyone.get<{ message: string }>('/demo/tokens', { Origin: origin });
      expect(answer.status).to.equal(403);
      expect(answer.body.message).to.equal('ORIGIN_NOT_ALLOWED');
    }
    const own = await demo.anyone.get('/demo/tokens', { Origin: demo.http });
    expect(own.status).to.equal(200);
  });
});

describe('the demo’s tokens', () => {
  let demo: ServedHttp;
  before(async () => {
    demo = await serveHttp({ HOST: '0.0.0.0', DEMO: true });
  });
  after(() => demo.server.drain());

  /** @param from address of the machine that asks, under a forged name */
  async function ask(from: string, headers: Record<string, string> = {}, { port } = demo): Promise<number> {
    const setPeer = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      Object.defineProperty(socket, 'remoteAddress', { value: from, configurable: true });
    };
    subscribe('http.server.request.start', setPeer);
    try {
      const options = { host: '127.0.0.1', port, path: '/demo/tokens' };
      return await statusOf({ ...options, headers: { Host: 'localhost', ...headers } });
    } finally {
      unsubscribe('http.server.request.start', setPeer);
    }
  }

  it('are for programs of the same machine alone, whatever Host others send', async () => {
    for (const from of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '127.0.1.1'])
      expect(await ask(from), from).to.equal(200);
    for (const from of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1', '::127.0.0.1'])
      expect(await ask(from), from).to.equal(403);
  });

  it('are for nobody behind a proxy on that machine', async () => {
    expect(await ask('127.0.0.1', { 'X-Forwarded-For': '192.0.2.7' })).to.equal(403);
    expect(await ask('127.0.0.1', { Via: '1.1 proxy' })).to.equal(403);
    const trusting = await serveHttp({ DEMO: true, TRUST_PROXY: 1 });
    try {
      expect(await ask('127.0.0.1', { 'X-Forwarded-For': '192.0.2.7' }, trusting)).to.equal(403);
      expect(await ask('192.0.2.7', { 'X-Forwarded-For': '127.0.0.1' }, trusting)).to.equal(403);
      expect(await ask('127.0.0.1', { 'X-Forwarded-For': '127.0.0.1' }, trusting)).to.equal(200);
    } finally {
      await trusting.server.drain();
    }
  });
});

describe('without DEMO', () => {
  it('there is no demo page and there are no tokens', async () => {
    for (const path of ['/demo', '/demo/tokens', '/demo/main.js', '/demo/socket.io.js']) {
      expect((await call(path)).status, path).to.equal(404);
    }
  });
});

describe('the demo', () => {
  it('is not there where others sign the tokens, whatever DEMO says', () => {
    const paths = (settings: Record<string, string>) =>
      createDemoRouter({} as Domain, loadConfig({ DEMO: 'on', ...settings }, '/nonexistent'), 8081).stack
        .length;
    expect(paths({})).to.be.greaterThan(10);
    expect(paths({ JWKS_URL: 'https://id.example.org/jwks.json' })).to.equal(0);
    expect(paths({ JWT_PUBLIC_KEY: '-----BEGIN PUBLIC KEY-----' })).to.equal(0);
    expect(paths({ DEMO: 'off' })).to.equal(0);
  });

  it('offers the first forty members, in their order, and looks at the first five hundred posts', async () => {
    const people = Array.from({ length: 60 }, (_, i) => ({
      ...{ no: i + 1, nickname: `Member ${i + 1}`, profile: '', role: 'USER' },
      email: i === 1 ? 'somebody@mail.kr' : `m${i + 1}@example.org`,
    }));
    // The last looked-at post and the first that is not are of different members.
    const authorOf = (no: number) => (no <= 499 ? 1 : no === 500 ? 3 : 4);
    const domain = {
      members: {
        directory: {
          async *allNumbers(size: number) {
            for (let i = 0; i < people.length; i += size) yield people.slice(i, i + size).map(({ no }) => no);
          },
          lookUp: async (numbers: number[]) =>
            new Map(numbers.toReversed().map((no) => [no, people[no - 1]])),
        },
      },
      adoption: {
        listRenderRecords: async () => Array.from({ length: 600 }, (_, i) => ({ id: i + 1 })),
        findPosts: async (ids: number[]) => new Map(ids.map((no) => [no, { no, authorNo: authorOf(no) }])),
      },
    } as unknown as Domain;
    const config = loadConfig({ JWT_SECRET: 'a secret of the tests, long enough for HS256' }, '/nonexistent');
    const members = await introduceMembers(domain, config);
    const offered = people.slice(0, 40).filter(({ no }) => no !== 2);
    expect(members.map(({ no }) => no)).to.deep.equal(offered.map(({ no }) => no));
    expect(members.map(({ posts }) => posts.length).slice(0, 3)).to.deep.equal([499, 1, 0]);
    expect(members[0]).to.have.all.keys('no', 'email', 'nickname', 'profile', 'posts', 'token');
  });
});

describe('sample members', () => {
  it('are those whose addresses can be nobody’s', () => {
    for (const email of [
      'a@example.org',
      'a@mail.example.com',
      'a@team.example',
      'a@b.test',
      'A@EXAMPLE.NET',
    ]) {
      expect(isSampleAddress(email), email).to.equal(true);
    }
    for (const email of [
      'a@myexample.org',
      'a@example.org.kr',
      'a@example.kr',
      'example.org@mail.kr',
      'a@test.com',
    ]) {
      expect(isSampleAddress(email), email).to.equal(false);
    }
  });
});

/** @returns the status of the answer; `fetch` sends no other Host */
function statusOf(options: RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    get(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode as number);
    }).on('error', reject);
  });
}

/** The page's policy as sent to a client that names this host. */
function requestWithHost(base: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`${base}/demo`, { headers: { Host: host } }, (answer) => {
      answer.resume();
      resolve(String(answer.headers['content-security-policy'] ?? ''));
    }).on('error', reject);
  });
}
