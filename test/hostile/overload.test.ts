import { expect } from 'chai';
import { Message } from '../../domain/chat/message.model.js';
import { Article } from '../../domain/community/article.model.js';
import type { Overload } from '../../domain/platform/overload.js';
import { anyone, expectError, type Member, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
import { interceptCalls } from '../support/database-calls.js';
import { eventually, gate } from '../support/eventually.js';
import { notifyOf } from '../support/notifications.js';
import { rawGet, rawRequest } from '../support/raw-connection.js';
import { handshakeRequest } from '../support/raw-socket.js';
import { service } from '../support/service.js';
import { connect, socketOf } from '../support/sockets.js';
import { openStream } from '../support/streams.js';

const CALM = { lagMs: 0, busy: 0, heap: 0.2, queuedMs: 0 };
const FULL = { ...CALM, heap: 0.95 };
const BLOCKED = { ...CALM, lagMs: 3_000, busy: 1 };

const REFUSED = { status: 503, message: 'SERVICE_UNAVAILABLE', errors: ['this process is overloaded'] };

describe('an overloaded process', () => {
  let http: string;
  let gateway: string;
  let overload: Overload;
  let me: Member;

  before(async () => {
    const running = await service();
    ({ http, gateway } = running);
    overload = running.domain.overload;
    me = await member();
  });
  afterEach(recover);

  function recover(): void {
    for (let i = 0; i < 500; i += 1) overload.sample(CALM);
  }

  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

  it('refuses requests with a time to wait, before their tokens and bodies are read', async () => {
    overload.sample(FULL);
    const answer = await fetch(`${http}/community/article`, {
      method: 'POST',
      headers: { Authorization: 'not a token', Origin: 'http://localhost:3000' },
      body: 'not JSON',
    });
    expect(await answer.json()).to.deep.equal(REFUSED);
    expect(answer.status).to.equal(503);
    expect(Number(answer.headers.get('Retry-After'))).to.be.within(1, 5);
    // A page may read it.
    expect(answer.headers.get('Access-Control-Allow-Origin')).to.equal('http://localhost:3000');
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

  it('counts requests and events as a queue while they wait for the database', async () => {
    const { chatNo, author } = await openRoom();
    const client = await connect(author);
    await client.join(chatNo);
    const { open, opened } = gate();
    const stop = interceptCalls([Article, Message], (_model, _call, run) => opened.then(run));
    const work: Promise<{ status: unknown }>[] = [
      ...Array.from({ length: 8 }, () => anyone.get('/community/list/recent')),
      ...Array.from({ length: 8 }, (_, i) => client.send(chatNo, 'hello', `queued ${i}`)),
    ];
    try {
      await eventually(() => expect(overload.queuedMs).to.be.above(0));
    } finally {
      open();
      stop();
    }
    for (const { status } of await Promise.all(work)) expect(status).to.equal(200);
    expect(overload.queuedMs).to.equal(0);
  });

  it('47: is alive and not ready after the event loop was blocked for 3 s, until it has recovered', async () => {
    overload.sample(BLOCKED);
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
    for (let i = 0; i < 99; i += 1) overload.sample(FULL);
    expect(await statusOf(`${http}/readyz`)).to.equal(200);
    overload.sample(FULL);
    expect(await statusOf(`${http}/readyz`)).to.equal(503);
    expect(await statusOf(`${http}/healthz`)).to.equal(200);
  });
});
