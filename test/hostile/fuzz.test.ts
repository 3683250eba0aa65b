import { expect } from 'chai';
import { documentedCalls } from '../api/documented-calls.js';
import { type Member, member } from '../support/api.js';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { createRandom, type Random } from '../support/random.js';
import { service } from '../support/service.js';
import { type Client, connect } from '../support/sockets.js';

/** Requests and socket events of one run. */
const REQUESTS = 600;
const EVENTS = 400;

/** Values that have broken services before. */
const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  '',
  ' ',
  '0',
  '1',
  'text',
  'article',
  'image',
  '\u0000',
  '\uD800',
  '💥',
  "'; DROP TABLE members; --",
  '$where',
  '.*(a+)+$',
  '../../etc/passwd',
  '<script>',
  'x'.repeat(300),
  'x'.repeat(6_000),
  [],
  [[]],
  [null],
  {},
  { $ne: null },
  { $gt: '' },
  { $where: 'sleep(1000)' },
  { length: 1e9 },
  { toString: 'x' },
  JSON.parse('{"then":"x"}'),
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"__proto__":{"polluted":true}}'),
];

const fields = [
  ...'id chatNo saleNo createMember contentType content senderName senderNo senderEmail sendTime readCount boardId parentId context'.split(
    ' ',
  ),
  ...'title categoryId imageList thumbnail target idList email token seq after typing clientId _csrf __proto__ constructor'.split(
    ' ',
  ),
];

const queries = 'page size keyword option categoryId saleNo limit before lastEventId email _csrf'.split(' ');

function oddValue(random: Random, depth = 0): unknown {
  const kind = random.below(10);
  if (depth < 3 && kind === 0)
    return Array.from({ length: random.below(4) }, () => oddValue(random, depth + 1));
  if (depth < 3 && kind === 1) return oddObject(random, depth + 1);
  return random.pick(odd);
}

function oddObject(random: Random, depth = 0): Record<string, unknown> {
  const entries = Array.from({ length: random.below(7) }, () => [
    random.pick(fields),
    oddValue(random, depth),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** A documented body with some fields replaced, removed or added: most of them pass the first check. */
function bent(random: Random, body: object): unknown {
  if (random.below(8) === 0) return oddValue(random);
  const copy: Record<string, unknown> = { ...body };
  for (const name of Object.keys(copy)) {
    if (random.below(3) === 0) copy[name] = oddValue(random);
    else if (random.below(10) === 0) delete copy[name];
  }
  return random.below(3) === 0 ? { ...copy, ...oddObject(random) } : copy;
}

describe('random input', () => {
  let room: OpenedRoom;
  let me: Member;
  const random = createRandom('FUZZ_SEED');

  before(async () => {
    room = await openRoom();
    me = room.asker;
  });

  const numbers = () => ({
    article_id: 1,
    comment_id: 1,
    target_id: 1,
    chat_no: room.chatNo,
    saleNo: room.saleNo,
    otherSaleNo: room.saleNo,
    createMember: room.author.no,
    notification_id: 1,
  });

  /** A random path segment or query value. */
  function oddText(): string {
    const value = oddValue(random);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return encodeURIComponent(text.slice(0, 2_000).replace(/\p{Surrogate}/gu, ''));
  }

  function oddPath(template: string): string {
    const path = template.replace(/\{(\w+)\}|article(?=\/\{)/g, (whole, name: string | undefined) => {
      if (random.below(3) === 0) return oddText();
      return name ? String((numbers() as Record<string, number>)[name]) : whole;
    });
    const query = Array.from({ length: random.below(3) }, () => `${random.pick(queries)}=${oddText()}`);
    return `${path}${query.length > 0 ? `${path.includes('?') ? '&' : '?'}${query.join('&')}` : ''}`;
  }

  const isRare = () => random.below(10) === 0;

  /** A documented call with an odd path and body, now and then with another method or other headers. */
  function oddRequest(): { method: string; path: string; headers: Record<string, string>; body?: string } {
    const documented = random.pick(documentedCalls);
    const method = isRare()
      ? random.pick(['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD'])
      : documented.method;
    const path = oddPath(documented.path);
    const headers: Record<string, string> = { 'Content-Type': isRare() ? 'text/plain' : 'application/json' };
    if (!isRare()) headers.Authorization = me.token;
    if (isRare()) headers['Last-Event-ID'] = `${me.no}_${random.below(1e9)}${random.below(1e9)}`;
    if (['GET', 'HEAD'].includes(method)) return { method, path, headers };
    const body = bent(random, documented.body?.(numbers()) ?? oddObject(random));
    return { method, path, headers, body: JSON.stringify(body) };
  }

  async function expectDocumentedError(answer: Response, what: string): Promise<void> {
    expect(answer.headers.get('content-type'), what).to.equal('application/json;charset=UTF-8');
    const error = (await answer.json()) as { errors: unknown[] };
    expect(error, what).to.have.all.keys('status', 'message', 'errors');
    expect(error, what).to.have.property('status', answer.status);
    expect(error.errors.length, what).to.be.within(1, 10);
    for (const line of error.errors) expect(line, what).to.be.a('string').with.length.below(1_000);
  }

  it('never makes a REST call answer 500, or with another error body than documented', async () => {
    const { http } = await service();
    for (let i = 0; i < REQUESTS; i += 1) {
      const { path, ...request } = oddRequest();
      const { method, body } = request;
      const what = `FUZZ_SEED=${random.seed} #${i} ${method} ${path} ${body?.slice(0, 300)}`;
      const answer = await fetch(http + path, request);
      expect(answer.status, what).to.be.below(500);
      if (answer.status >= 400 && method !== 'HEAD') await expectDocumentedError(answer, what);
      else await answer.body?.cancel();
    }
    expect({}).not.to.have.property('polluted');
  });

  it('never makes a socket event answer 500, end the process, or affect another client', async () => {
    const bystander = await connect(room.author);
    let client: Client = await connect(me);
    const { chatNo } = room;
    const events: [event: string, request: object][] = [
      ['room:join', { chatNo, after: 0 }],
      ['room:leave', { chatNo }],
      ['message:send', { chatNo, contentType: 'text', content: 'x', clientId: 'c' }],
      ['message:read', { chatNo, seq: 1 }],
      ['typing', { chatNo, typing: true }],
      ['auth:refresh', { token: me.token }],
      ['__proto__', {}],
      ['hasOwnProperty', {}],
    ];
    for (let i = 0; i < EVENTS; i += 1) {
      if (!client.socket.connected) client = await connect(me);
      const [event, request] = random.pick(events);
      const args = [bent(random, request), ...(random.below(5) === 0 ? [oddValue(random)] : [])];
      const what = `FUZZ_SEED=${random.seed} #${i} ${event} ${JSON.stringify(args)?.slice(0, 300)}`;
      if (random.below(10) === 0) {
        client.socket.emit(event, ...args);
        continue;
      }
      const answer = await client.ask<{ message?: unknown; errors?: unknown[] }>(event, ...args);
      expect(answer.status, what).to.be.within(200, 499);
      if (answer.status === 200) continue;
      expect(answer, what).to.have.all.keys('status', 'message', 'errors');
      expect(answer.errors?.length, what).to.be.within(1, 10);
    }
    expect(await bystander.join(chatNo)).to.include({ status: 200 });
    const newcomer = await connect(await member());
    expect(newcomer.socket.connected).to.equal(true);
    expect({}).not.to.have.property('polluted');
  });
});
