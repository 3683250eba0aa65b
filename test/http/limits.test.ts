import { expect } from 'chai';
import { AppError } from '../../domain/kernel/errors.js';
import type { Budget } from '../../domain/platform/rate-limits/index.js';
import { type Member, member } from '../support/api.js';
import { routes } from '../support/api-documents.js';
import { push } from '../support/chat.js';
import { type ServedHttp, serveHttp } from '../support/http-server.js';

const ADDRESS = '127.0.0.1';
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('the budget of a request', () => {
  let me: Member;
  let served: ServedHttp;
  let behindProxy: ServedHttp;
  let taken: [Budget, string | number][];
  /** The exhausted budget. */
  let usedUp: Budget | undefined;

  before(async () => {
    const rateLimits = {
      async take(budget: Budget, key: string | number) {
        taken.push([budget, key]);
        if (budget === usedUp) throw new AppError('RATE_LIMITED', [], { retryAfterMs: 1_001 });
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

  it('is the address’s, then the member’s or again the address’s; a message’s too', async () => {
    const mine = { Authorization: me.token };
    const address: [Budget, string] = ['address', ADDRESS];
    const member = `member:${me.no}`;
    const message = push(999_999_999, 1, 'hello');
    const expected: [string, Record<string, string>, object | undefined, [Budget, string | number][]][] = [
      ['GET /community/list/recent', {}, undefined, [address, ['read', ADDRESS]]],
      ['GET /community/list/recent', mine, undefined, [address, ['read', member]]],
      ['GET /notification/all', mine, undefined, [address, ['read', member]]],
      ['POST /community/heart', mine, { what: 'is wrong' }, [address, ['write', member]]],
      ['POST /chatroom/1?email=x', {}, undefined, [address, ['write', ADDRESS]]],
      ['POST /chatroom/notification', {}, message, [address, ['write', ADDRESS], ['message', ADDRESS]]],
      ['POST /chatroom/notification', mine, message, [address, ['write', member], ['message', me.no]]],
      ['POST /chatroom/notification', mine, { id: 'x', chatNo: 1 }, [address, ['write', member]]],
      ['GET /notification/all', { Authorization: 'nonsense' }, undefined, [address]],
      ['GET /nowhere', mine, undefined, [address]],
      ['GET /openapi.json', {}, undefined, [address]],
      ['GET /healthz', {}, undefined, []],
      ['GET /readyz', {}, undefined, []],
      ['GET /metrics', {}, undefined, []],
    ];
    for (const [request, headers, json, budgets] of expected) {
      taken = [];
      await ask(request, headers, json);
      expect(taken, request).to.deep.equal(budgets);
    }
  });

  it('is a read for calls that change nothing, a write for all others', () => {
    for (const { definition } of routes) {
      const { method, path, limit } = definition;
      expect(limit, `${method} ${path}`).to.equal(method === 'get' ? 'read' : 'write');
    }
  });

  it('is that of the address that the trusted proxy saw', async () => {
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

  it('if used up, refuses the request before anything else is checked', async () => {
    const requests: [Budget, string, Record<string, string>, object | undefined][] = [
      ['address', 'GET /nowhere', { Authorization: 'nonsense' }, undefined],
      ['read', 'GET /chatroom/nonsense', { Authorization: me.token }, undefined],
      ['write', 'POST /community/heart', { Authorization: me.token }, { what: 'is wrong' }],
      ['message', 'POST /chatroom/notification', {}, push(999_999_999, 1, 'hello')],
    ];
    for (const [budget, request, headers, json] of requests) {
      usedUp = budget;
      const answer = await ask(request, headers, json);
      expect([answer.status, answer.headers.get('retry-after')], request).to.deep.equal([429, '2']);
    }
  });
});
