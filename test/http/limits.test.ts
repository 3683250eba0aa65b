import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { AppError } from '../../domain/kernel/errors.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Budget } from '../../domain/platform/rate-limits/index.js';
import { budgets } from '../../domain/platform/rate-limits/rate-limits.js';
import { createMemoryRateLimits } from '../../domain/platform/rate-limits/rate-limits.memory.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { type Member, member } from '../support/api.js';
import { routes } from '../support/api-documents.js';
import { openRoom, push } from '../support/chat.js';
import { counted } from '../support/counted.js';
import { eventually, nextTurn } from '../support/eventually.js';
import { type ServedHttp, serveHttp } from '../support/http-server.js';
import { rawConnection, rawGet } from '../support/raw-connection.js';

const ADDRESS = '127.0.0.1';
/** A budget for one request in an hour. */
const ONE_REQUEST = { points: 1, duration: 3_600 };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A budget, whose, and how much of it where that is not 1. */
type Taken = [Budget, string | number, number?];

describe('the budget of a request', () => {
  let me: Member;
  let served: ServedHttp;
  let behindProxy: ServedHttp;
  let taken: Taken[];
  /** The exhausted budget. */
  let usedUp: Budget | undefined;
  /** A budget that cannot be read. */
  let broken: Budget | undefined;

  before(async () => {
    const rateLimits = {
      async take(budget: Budget, key: string | number, points?: number) {
        taken.push(points === undefined ? [budget, key] : [budget, key, points]);
        if (budget === usedUp) throw new AppError('RATE_LIMITED', [], { retryAfterMs: 1_001 });
        if (budget === broken) throw new Error('planted in a budget');
      },
    };
    served = await serveHttp({}, { rateLimits });
    behindProxy = await serveHttp({ TRUST_PROXY: 1 }, { rateLimits });
  });
  after(() => Promise.all([served.server.drain(), behindProxy.server.drain()]));
  beforeEach(async () => {
    me = await member();
    taken = [];
    usedUp = undefined;
    broken = undefined;
  });

  /** @param request as `GET /path` */
  async function ask(request: string, headers: Record<string, string> = {}, json?: object) {
    const [method = '', path = ''] = request.split(' ');
    const body = json && JSON.stringify(json);
    const answer = await fetch(`${served.base}${path}`, {
      ...{ method, headers: { ...headers, ...(json ? JSON_TYPE : {}) } },
      ...(body ? { body } : {}),
    });
    await answer.arrayBuffer();
    return answer;
  }

  it('is taken for the address, then for the member or else the address, and for a message from its sender', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const mine = { Authorization: asker.token };
    const known = { Cookie: `session=${asker.token}` };
    const address: Taken = ['address', ADDRESS];
    const member = `member:${asker.no}`;
    const message = push(chatNo, saleNo, 'hello');
    const unknown = push(999_999_999, 1, 'hello');
    const echo = { id: 'x', chatNo: 1 };
    const bytes = (json: object): Taken => ['bytes', ADDRESS, JSON.stringify(json).length];
    const expected: [string, Record<string, string>, object | undefined, Taken[]][] = [
      ['GET /community/list/recent', {}, undefined, [address, ['read', ADDRESS]]],
      ['GET /community/list/recent?option=1', {}, undefined, [address, ['read', ADDRESS]]],
      [
        'GET /community/list/recent?keyword=a&option=1',
        {},
        undefined,
        [address, ['read', ADDRESS], ['search', ADDRESS]],
      ],
      [
        'GET /community/list/like?keyword=a&option=author',
        mine,
        undefined,
        [address, ['read', member], ['search', member]],
      ],
      ['GET /community/list/recent', mine, undefined, [address, ['read', member]]],
      ['GET /me', mine, undefined, [address, ['read', member]]],
      ['GET /notification/all', mine, undefined, [address, ['list', member]]],
      ['HEAD /notification/connect', mine, undefined, [address, ['read', member]]],
      ['GET /chatroom', mine, undefined, [address, ['list', member]]],
      [`GET /chatroom/${chatNo}`, mine, undefined, [address, ['list', member]]],
      [
        'POST /community/heart',
        mine,
        { what: 'is wrong' },
        [address, ['write', member], bytes({ what: 'is wrong' })],
      ],
      ['POST /chatroom/1?email=x', {}, undefined, [address, ['write', ADDRESS]]],
      ['POST /chatroom/notification', {}, unknown, [address, ['write', ADDRESS], bytes(unknown)]],
      [
        'POST /chatroom/notification',
        known,
        message,
        [address, ['write', ADDRESS], bytes(message), ['message', asker.no]],
      ],
      [
        'POST /chatroom/notification',
        mine,
        message,
        [address, ['write', member], bytes(message), ['message', asker.no]],
      ],
      ['POST /chatroom/notification', mine, echo, [address, ['write', member], bytes(echo)]],
      ['GET /notification/all', { Authorization: 'nonsense' }, undefined, [address]],
      ['GET /nowhere', mine, undefined, [address]],
      ['GET /openapi.json', {}, undefined, [address]],
      ['GET /healthz', {}, undefined, [address]],
      ['GET /readyz', {}, undefined, [address]],
      ['GET /metrics', {}, undefined, [address]],
      ['OPTIONS /chatroom', {}, undefined, [address]],
      [
        'OPTIONS /chatroom',
        { Origin: 'http://localhost', 'Access-Control-Request-Method': 'GET' },
        undefined,
        [address],
      ],
    ];
    for (const [request, headers, json, budgets] of expected) {
      taken = [];
      await ask(request, headers, json);
      expect(taken, request).to.deep.equal(budgets);
    }
  });

  it('is a read or a list for calls that change nothing, a write for all others', () => {
    const lists = ['/chatroom', '/chatroom/:chatNo', '/notification/all'];
    for (const { definition } of routes) {
      const { method, path, limit } = definition;
      const read = lists.includes(path) ? 'list' : 'read';
      expect(limit, `${method} ${path}`).to.equal(method === 'get' ? read : 'write');
    }
  });

  it('is taken for the /64 of an IPv6 address', async () => {
    for (const [forwarded, network] of [
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
      ['2001:db8:1:3::7', '2001:db8:1:3::/64'],
    ]) {
      taken = [];
      await fetch(`${behindProxy.base}/community/list/recent`, {
        headers: { 'X-Forwarded-For': forwarded as string },
      });
      expect(taken).to.deep.equal([
        ['address', network],
        ['read', network],
      ]);
    }
  });

  it('is taken for the address that the trusted proxy saw', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' };
    await fetch(`${behindProxy.base}/community/list/recent`, { headers });
    expect(taken).to.deep.equal([
      ['address', '203.0.113.9'],
      ['read', '203.0.113.9'],
    ]);
    taken = [];
    await ask('GET /community/list/recent', headers);
    expect(taken.map(([, key]) => key)).to.deep.equal([ADDRESS, ADDRESS]);
  });

  it('refuses the request, when used up, before anything else is checked, a message once its sender is known', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const byCookie = { Cookie: `session=${asker.token}` };
    const requests: [Budget, string, Record<string, string>, object | undefined][] = [
      ['address', 'GET /nowhere', { Authorization: 'nonsense' }, undefined],
      ['read', 'GET /community/article/nonsense', { Authorization: me.token }, undefined],
      ['list', 'GET /chatroom/nonsense', { Authorization: me.token }, undefined],
      ['search', 'GET /community/list/recent?keyword=a&option=3', {}, undefined],
      ['write', 'POST /community/heart', { Authorization: me.token }, { what: 'is wrong' }],
      ['bytes', 'POST /community/heart', { Authorization: me.token }, { what: 'is wrong' }],
      ['message', 'POST /chatroom/notification', byCookie, push(chatNo, saleNo, 'hello')],
    ];
    for (const [budget, request, headers, json] of requests) {
      usedUp = budget;
      const answer = await ask(request, headers, json);
      expect([answer.status, answer.headers.get('retry-after')], request).to.deep.equal([429, '2']);
    }
  });

  it('answers a failure of a budget as a failure, not as a fault of the request', async () => {
    for (broken of ['address', 'bytes', 'write'] as const) {
      const answer = await ask(
        'POST /community/heart',
        { Authorization: me.token },
        { target: 'article', id: 1 },
      );
      expect(answer.status, broken).to.equal(500);
    }
  });
});

describe('an address that has used up its budget', () => {
  let served: ServedHttp;
  before(async () => {
    served = await serveHttp(
      {},
      { rateLimits: createMemoryRateLimits({ ...budgets, address: ONE_REQUEST }) },
    );
  });
  afterEach(() => mock.timers.reset());
  after(() => served.server.drain());

  it('gets one refusal in 250 ms on a connection, however many requests it sends', async () => {
    const { socket, until } = rawConnection(served.base, rawGet('/healthz'));
    await until(/^HTTP\/1\.1 200/);
    mock.timers.enable({ apis: ['setTimeout'] });
    let answers = 0;
    socket.on('data', (text: Buffer) => {
      answers += text.toString().split('HTTP/1.1 429 ').length - 1;
    });
    socket.write(rawGet('/healthz').repeat(20));
    for (let refusals = 0; refusals < 3; refusals += 1) {
      // Arrived, and handled as far as they are without time.
      await nextTurn(50);
      mock.timers.tick(249);
      await nextTurn(50);
      expect(answers).to.equal(refusals);
      mock.timers.tick(1);
      await until(/HTTP\/1\.1 429 [\s\S]*RATE_LIMITED/);
      expect(answers).to.equal(refusals + 1);
    }
    socket.destroy();
  });
});

describe('the connections of one address', () => {
  const served: ServedHttp[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(served.splice(0).map(({ server }) => server.drain()));
  });

  async function serve(settings: Partial<Config>): Promise<ServedHttp> {
    const one = await serveHttp({ RATE_LIMIT: 'on', HTTP_CONNECTIONS: 10, ...settings });
    served.push(one);
    return one;
  }

  /** Opens a connection. @returns the first line of the answer to a request on it, or nothing if it is closed */
  async function firstLine({ port }: ServedHttp): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    return new Promise((resolve) => {
      socket.on('error', () => {});
      socket.once('close', () => resolve(''));
      socket.once('data', (bytes: Buffer) => resolve(bytes.toString().split('\r\n')[0] as string));
    });
  }

  const several = (to: ServedHttp, count: number) =>
    Promise.all(Array.from({ length: count }, () => firstLine(to)));

  it('are closed beyond HTTP_CONNECTIONS, until another one ends, and counted', async () => {
    const one = await serve({});
    const before = await counted(metrics.connectionsClosed, { reason: 'address' });
    expect(new Set(await several(one, 10))).to.deep.equal(new Set(['HTTP/1.1 200 OK']));
    expect(await several(one, 2)).to.deep.equal(['', '']);
    expect(await counted(metrics.connectionsClosed, { reason: 'address' })).to.equal(before + 2);
    sockets[0]?.destroy();
    await eventually(async () => expect(await firstLine(one)).to.equal('HTTP/1.1 200 OK'));
    expect(await firstLine(one)).to.equal('');
  });

  it('are as many as come from a trusted proxy, and with RATE_LIMIT=off', async () => {
    for (const settings of [{ TRUST_PROXY: 1 }, { RATE_LIMIT: 'off' }] as const)
      expect(new Set(await several(await serve(settings), 12))).to.deep.equal(new Set(['HTTP/1.1 200 OK']));
  });
});
