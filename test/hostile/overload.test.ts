import { expect } from 'chai';
import { Message } from '../../domain/chat/message.model.js';
import { Article } from '../../domain/community/article.model.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Overload } from '../../domain/platform/process/overload.js';
import { anyone, expectError, type Member, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { counted } from '../support/counted.js';
import { interceptCalls } from '../support/database-calls.js';
import { eventually, gate } from '../support/eventually.js';
import { notifyOf } from '../support/notifications.js';
import { rawGet, rawRequest } from '../support/raw-connection.js';
import { handshakeRequest } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { connect, socketOf } from '../support/sockets.js';
import { openStream } from '../support/streams.js';

const CALM = { lagMs: 0, heap: 0.2 };
const FULL = { ...CALM, heap: 0.95 };

const REFUSED = { status: 503, message: 'SERVICE_UNAVAILABLE', errors: ['this process is overloaded'] };

const REQUEST_ID = '0b8f3a52-9c1e-4d7a-8f00-1234567890ab';

describe('an overloaded process', () => {
  let http: string;
  let gateway: string;
  let overload: Overload;
  let me: Member;

  /** How far the clock of this process is ahead, ms. */
  let skippedMs = 0;
  const { now } = performance;

  before(async () => {
    performance.now = () => now.call(performance) + skippedMs;
    const running = await service();
    ({ http, gateway } = running);
    overload = running.domain.overload;
    me = await member();
  });
  afterEach(() => recover());
  after(() => {
    performance.now = now;
  });

  /** Lets time pass for the process, and the samples that belong to it. */
  function pass(ms: number, strain = CALM): void {
    for (let passed = 0; passed < ms; passed += 20) {
      skippedMs += 20;
      overload.sample(strain);
    }
  }

  const recover = () => pass(10_000);

  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

  it('refuses requests with a time to wait, before their tokens and bodies are read', async () => {
    overload.sample(FULL);
    const answer = await fetch(`${http}/community/article`, {
      method: 'POST',
      headers: {
        Authorization: 'not a token',
        Origin: 'http://localhost:3000',
        'X-Request-Id': REQUEST_ID,
      },
      body: 'not JSON',
    });
    expect(await answer.json()).to.deep.equal(REFUSED);
    expect(answer.status).to.equal(503);
    expect(Number(answer.headers.get('Retry-After'))).to.be.within(1, 5);
    // A page may read it.
    const allowed = Object.entries({
      'Access-Control-Allow-Origin': 'http://localhost:3000',
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Expose-Headers': 'X-Request-Id,Retry-After,WWW-Authenticate',
      Vary: 'Origin',
      'X-Request-Id': REQUEST_ID,
      'X-Content-Type-Options': 'nosniff',
      'Content-Type': 'application/json;charset=UTF-8',
    });
    for (const [name, value] of allowed) expect(answer.headers.get(name), name).to.equal(value);
    const foreign = await fetch(`${http}/community/list/recent`, {
      headers: { Origin: 'http://evil.example' },
    });
    expect(foreign.status).to.equal(503);
    expect(foreign.headers.has('Access-Control-Allow-Origin')).to.equal(false);
    expect((await fetch(`${http}/chatroom`, { method: 'OPTIONS' })).status, 'preflight').to.not.equal(503);
    await expectError(anyone.get('/community/list/recent'), 503, 'SERVICE_UNAVAILABLE');
    recover();
    expect((await anyone.get('/community/list/recent')).status).to.equal(200);
  });

  it('keeps streams and sockets open, and delivers to them', async () => {
    const stream = await openStream(me);
    const { socket, next } = await connect(me);
    overload.sample(FULL);
    await notifyOf(me, 'while it is overloaded');
    await stream.next(({ data }) => data.includes('while it is overloaded'));
    await next('notification');
    expect(socket.connected).to.equal(true);
  });

  it('refuses events of sockets, which stay connected', async () => {
    const { chatNo, author } = await openRoom();
    const client = await connect(author);
    await client.join(chatNo);
    overload.sample(FULL);
    const refused = await client.send(chatNo, 'hello', 'once');
    expect(refused).to.deep.include(REFUSED);
    expect(refused).to.have.property('retryAfterMs').that.is.within(1_000, 5_000);
    recover();
    expect(await client.send(chatNo, 'hello', 'once')).to.include({ status: 200 });
  });

  it('refuses connects; the client of Socket.IO tries again by itself', async () => {
    overload.sample(FULL);
    for (const handshake of [
      handshakeRequest('EIO=4&transport=websocket'),
      rawGet('/socket.io/?EIO=4&transport=polling'),
    ]) {
      const answer = await rawRequest(gateway, handshake, /\}/);
      expect(answer).to.match(/^HTTP\/1.1 503 Service Unavailable\r\n/);
      expect(answer).to.match(/\r\nRetry-After: [1-5]\r\n/i);
      expect(answer).to.include(JSON.stringify(REFUSED));
    }
    const socket = await socketOf({ auth: { token: me.token }, reconnection: true, reconnectionDelay: 10 });
    await new Promise((resolve) => socket.once('connect_error', resolve));
    recover();
    await eventually(() => expect(socket.connected).to.equal(true));
  });

  it('refuses further requests and events while the database does not answer, and nothing after that', async () => {
    const { chatNo, author } = await openRoom();
    const client = await connect(author);
    await client.join(chatNo);
    const { open, opened } = gate();
    const stop = interceptCalls([Article, Message], (_model, _call, run) => opened.then(run));
    const work: Promise<{ status: unknown }>[] = [
      ...Array.from({ length: 12 }, () => anyone.get('/community/list/recent')),
      ...Array.from({ length: 12 }, (_, i) => client.send(chatNo, 'hello', `queued ${i}`)),
    ];
    try {
      await eventually(() => {
        pass(100);
        expect(overload.refuse('request')).to.include({ status: 503 });
      });
      await expectError(anyone.get('/community/list/recent'), 503, 'SERVICE_UNAVAILABLE');
      expect(await client.send(chatNo, 'hello', 'one too many')).to.deep.include(REFUSED);
    } finally {
      open();
      stop();
    }
    const statuses = (await Promise.all(work)).map(({ status }) => status);
    // All that were there before the decision.
    expect(statuses.filter((status) => status === 200)).to.have.length.of.at.least(16);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).to.deep.equal([]);
    expect(await client.send(chatNo, 'hello', 'one too many')).to.include({ status: 200 });
    expect((await anyone.get('/community/list/recent')).status).to.equal(200);
  });

  it('11: answers other members while the joins of one wait for each other', async () => {
    // All 300 that a member may send at once counted as under way: everybody was refused.
    const [joined, other] = [await openRoom(), await openRoom()];
    const [joining, sending] = await Promise.all([connect(joined.author), connect(other.author)]);
    // Loads the room: further messages read nothing.
    await sending.send(other.chatNo, 'hello');
    const { open, opened } = gate();
    const stop = interceptCalls([Message], (_model, call, run) =>
      call === 'find' ? opened.then(run) : run(),
    );
    const joins = Array.from({ length: 300 }, () => joining.join(joined.chatNo));
    try {
      await eventually(async () =>
        expect(await counted(metrics.queueLength, { queue: 'joins' })).to.equal(joins.length),
      );
      pass(1_000);
      expect(await sending.send(other.chatNo, 'hello again')).to.include({ status: 200 });
    } finally {
      open();
      stop();
    }
    for (const answer of await Promise.all(joins)) expect(answer).to.include({ status: 200 });
  });

  it('47: is alive and not ready after the event loop was blocked for 3 s, until it has recovered', async () => {
    skippedMs += 3_020;
    overload.sample({ ...CALM, lagMs: 3_000 });
    for (const base of [http, gateway]) {
      const answer = await fetch(`${base}/readyz`);
      expect(await answer.json()).to.deep.equal(REFUSED);
      expect(answer.status).to.equal(503);
      expect(answer.headers.has('Retry-After')).to.equal(true);
      expect(await statusOf(`${base}/healthz`)).to.equal(200);
      expect(await statusOf(`${base}/metrics`)).to.equal(200);
    }
    recover();
    for (const base of [http, gateway]) expect(await statusOf(`${base}/readyz`)).to.equal(200);
  });

  it('47: is alive and not ready while the heap stays full', async () => {
    pass(1_900, FULL);
    expect(await statusOf(`${http}/readyz`)).to.equal(200);
    pass(200, FULL);
    expect(await statusOf(`${http}/readyz`)).to.equal(503);
    expect(await statusOf(`${http}/healthz`)).to.equal(200);
  });
});
