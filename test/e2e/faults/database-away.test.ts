import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from '../../../scripts/embedded-mongo/server.js';
import { eventually } from '../../support/eventually.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { type Client, connect } from '../../support/sockets.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';

/** Longest time, in ms, a request may take while the database is away: 3 s (platform/mongo/connection.ts), and some for a busy machine. */
const IN_TIME_MS = 8_000;

describe('a database that is away', () => {
  let database: EmbeddedMongo;
  let proxy: TcpProxy;
  let service: ServiceProcess;
  let token: string;
  let chatNo: number;

  before(async () => {
    database = await startEmbeddedMongo({ storage: 'memory' });
    proxy = await startTcpProxy(() => database.port);
    service = await startServiceProcess({ MONGODB_URI: `mongodb://127.0.0.1:${proxy.port}/adoption` });
    token = await service.token('asker@example.org');
    const opened = await service.call(
      'POST',
      '/chatroom',
      { saleNo: service.saleNo, createMember: service.authorNo },
      { Authorization: token },
    );
    expect(opened.status, opened.text).to.equal(200);
    const rooms = await service.call<{ chatNo: number }[]>('GET', '/chatroom', undefined, {
      Authorization: token,
    });
    chatNo = rooms.body[0]?.chatNo as number;
  });

  after(async () => {
    await service.stop('SIGKILL');
    await proxy.close();
    await database.close();
  });

  /** Every kind of call, all at once: each is 503 in time, and says so in the one form. */
  async function expectUnavailable(): Promise<void> {
    const before = Date.now();
    const calls: [string, string, unknown?][] = [
      ['GET', '/community/list/recent'],
      ['GET', '/community/article/1'],
      ['GET', '/chatroom'],
      ['GET', `/chatroom/${chatNo}`],
      ['GET', '/notification/all'],
      ['GET', '/notification/connect'],
      ['POST', '/community/heart', { target: 'article', id: 1 }],
      ['POST', '/community/comment', { boardId: 1, context: 'x' }],
      ['POST', '/chatroom/notification', { id: null, chatNo, contentType: 'text', content: 'x' }],
      ['POST', '/notification', { idList: [1] }],
      ['GET', '/readyz'],
    ];
    await Promise.all(
      calls.map(async ([method, path, json]) => {
        const answer = await service.call<{ errors: string[] }>(method, path, json, { Authorization: token });
        const took = Date.now() - before;
        expect(answer.status, `${method} ${path} after ${took} ms: ${answer.text}`).to.equal(503);
        expect(Number(answer.headers.get('retry-after')), path).to.be.at.least(1);
        expect(answer.body).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
        expect(answer.body.errors[0], path).to.match(
          /^(the database does not answer|messages are not being stored in time)$/,
        );
        expect(took, path).to.be.below(IN_TIME_MS);
      }),
    );
    const ready = await fetch(`${service.gateway}/readyz`);
    expect(ready.status).to.equal(503);
    expect(await ready.json(), 'no internals').to.deep.equal({
      status: 503,
      message: 'SERVICE_UNAVAILABLE',
      errors: ['the database does not answer'],
    });
    expect((await fetch(`${service.http}/healthz`)).status).to.equal(200);
    expect((await fetch(`${service.gateway}/healthz`)).status).to.equal(200);
  }

  async function expectBack(client: Client, acked: string[]): Promise<void> {
    await eventually(async () => {
      const answer = await service.call('GET', '/community/list/recent');
      expect(answer.status, answer.text).to.equal(200);
      expect((await fetch(`${service.gateway}/readyz`)).status).to.equal(200);
    });
    const sent = await client.ask('message:send', { chatNo, contentType: 'text', content: 'back' });
    expect(sent, JSON.stringify(sent)).to.include({ status: 200 });
    acked.push('back');
    const list = await service.call<{ chatList: { content: string }[] }>(
      'GET',
      `/chatroom/${chatNo}`,
      undefined,
      { Authorization: token },
    );
    const contents = list.body.chatList.map(({ content }) => content);
    for (const content of acked) expect(contents).to.include(content);
  }

  for (const [name, away] of [
    ['refuses connections', () => proxy.cut()],
    ['swallows everything', async () => proxy.silence()],
  ] as const) {
    it(`that ${name}: 503 in time, sockets stay, and everything goes on by itself`, async () => {
      const client = await connect({ token }, {}, service.gateway);
      await client.ask('room:join', { chatNo });
      const acked: string[] = [];
      expect(
        await client.ask('message:send', { chatNo, contentType: 'text', content: `before ${name}` }),
      ).to.include({ status: 200 });
      acked.push(`before ${name}`);

      await away();
      // Sends of one room wait for each other: each one's time-out was added to the next one's.
      const sends = Array.from({ length: 5 }, () =>
        client.socket.timeout(IN_TIME_MS).emitWithAck('message:send', {
          chatNo,
          contentType: 'text',
          content: `during ${name}`,
          clientId: name,
        }),
      );
      await expectUnavailable();
      for (const answer of (await Promise.all(sends)) as { status: number; retryAfterMs?: number }[]) {
        expect(answer, JSON.stringify(answer)).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
        expect(answer.retryAfterMs).to.be.greaterThan(0);
      }
      expect(client.socket.connected).to.equal(true);

      await proxy.restore();
      await expectBack(client, acked);
      // The same send once more: stored once, whatever became of the first.
      const again = { chatNo, contentType: 'text', content: `during ${name}`, clientId: name };
      expect(await client.ask('message:send', again)).to.include({ status: 200 });
      const joined = await client.ask<{ messages: { content: string; seq: number }[] }>('room:join', {
        chatNo,
      });
      expect(joined.messages.filter(({ content }) => content === again.content)).to.have.length(1);
      expect(joined.messages.map(({ seq }) => seq)).to.deep.equal(joined.messages.map((_, i) => i + 1));
      client.socket.disconnect();
    });
  }
});
