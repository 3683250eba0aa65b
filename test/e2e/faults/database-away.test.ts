import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type EmbeddedMongo, startEmbeddedMongo } from 'embedded-mongo/server';
import { startTcpProxy, type Tap, type TcpProxy } from '../../../scripts/command/tcp-proxy.js';
import { contentsOf, openChat } from '../../support/chat.js';
import { eventually } from '../../support/eventually.js';
import { commandIn, replyTo } from '../../support/mongo-wire.js';
import { isReady, type RestClient } from '../../support/rest.js';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.js';
import { type Client, connect } from '../../support/sockets.js';

interface Stored {
  id: string;
  content: string;
  seq: number;
}

/** Longest time, in ms, of a request without a database: 3 s (platform/mongo/connection.ts), and some for a busy machine. */
const IN_TIME_MS = 8_000;

describe('a database that does not answer', () => {
  let database: EmbeddedMongo;
  let proxy: TcpProxy;
  let service: ServiceProcess;
  let token: string;
  let asker: RestClient;
  let chatNo: number;
  /** Whether writes fail as at a primary that steps down, and how many have failed. */
  let isSteppingDown = false;
  let failedWrites = 0;
  /** Inserts that are still to be executed without being acknowledged by a majority in time. */
  let unacknowledged = 0;

  before(async () => {
    database = await startEmbeddedMongo({ storage: 'memory', database: 'adoption' });
    proxy = await startTcpProxy(() => database.port, failWrites);
    service = await startServiceProcess({
      MONGODB_URI: `mongodb://127.0.0.1:${proxy.port}/adoption`,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'info',
      LOG_REQUESTS: 'errors',
    });
    token = await service.token('asker@example.org');
    asker = service.as(token);
    chatNo = await openChat(asker, service.saleNo, service.authorNo);
  });

  after(async () => {
    await service.stop('SIGKILL');
    await proxy.close();
    await database.close();
  });

  /**
   * Fails each write of a primary that steps down: in turn it is not executed, or executed without being confirmed.
   * Without a majority, an insert is executed, and answered with the time-out of its write concern.
   */
  function failWrites(client: { write(bytes: Buffer): void }): Tap {
    let unconfirmed: Buffer | undefined;
    return {
      request(message, pass) {
        const command = commandIn(message);
        if (command.insert && unacknowledged > 0) {
          unacknowledged -= 1;
          const writeConcernError = {
            code: 64,
            codeName: 'WriteConcernTimeout',
            errmsg: 'waiting for replication timed out',
          };
          unconfirmed = replyTo(message, { ok: 1, n: 1, writeConcernError });
          pass(message);
          return;
        }
        if (!isSteppingDown || !(command.insert ?? command.update ?? command.findAndModify))
          return pass(message);
        failedWrites += 1;
        if (failedWrites % 2 === 1) {
          const refusal = { ok: 0, code: 10_107, codeName: 'NotWritablePrimary', errmsg: 'not primary' };
          client.write(replyTo(message, refusal));
          return;
        }
        const code = { code: 11_602, codeName: 'InterruptedDueToReplStateChange', errmsg: 'interrupted' };
        unconfirmed = replyTo(message, { ok: 0, ...code });
        pass(message);
      },
      answer(message, pass) {
        pass(unconfirmed ?? message);
        unconfirmed = undefined;
      },
    };
  }

  /** Every kind of call, all at once: each answers 503 in time, with the documented error body. */
  async function expectUnavailable(): Promise<void> {
    const before = Date.now();
    const calls: [method: string, path: string, json?: unknown][] = [
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
    ];
    await Promise.all(
      calls.map(async ([method, path, json]) => {
        const answer = await asker.call<{ errors: string[] }>(path, { method, json });
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
    for (const base of [service.http, service.gateway]) {
      // An answer is up to a second old.
      await eventually(async () => expect(await isReady(base)).to.equal(false));
      expect(await (await fetch(`${base}/readyz`)).json(), 'no internals').to.deep.equal({
        status: 503,
        message: 'SERVICE_UNAVAILABLE',
        errors: ['the database does not answer'],
      });
      expect((await fetch(`${base}/healthz`)).status).to.equal(200);
    }
  }

  const linesOf = (text: string) =>
    service.process.log
      .split('\n')
      .filter((line) => line.includes(text))
      .map((line) => JSON.parse(line));

  const databaseUp = async () =>
    /^adoption_database_up(?:\{.*\})? (\d)$/m.exec(
      await (await fetch(`${service.http}/metrics`)).text(),
    )?.[1];

  /** Every message of the room. */
  async function allMessages(client: Client): Promise<Stored[]> {
    const all: Stored[] = [];
    for (let more = true; more; ) {
      const page = await client.join<{ messages: Stored[]; more: boolean }>(chatNo, all.at(-1)?.seq ?? 0);
      all.push(...page.messages);
      ({ more } = page);
    }
    return all;
  }

  async function expectBack(client: Client, acked: string): Promise<void> {
    await eventually(async () => {
      const answer = await service.anyone.get('/community/list/recent');
      expect(answer.status, answer.text).to.equal(200);
      expect(await isReady(service.gateway)).to.equal(true);
    });
    expect(await client.send(chatNo, 'back')).to.include({ status: 200 });
    expect(await contentsOf(asker, chatNo)).to.include.members([acked, 'back']);
  }

  for (const [name, fail] of [
    ['it refuses connections', () => proxy.refuse()],
    ['it drops all packets', async () => proxy.silence()],
  ] as const) {
    it(`33: makes calls answer 503 in time when ${name}; sockets stay open, and the service recovers by itself`, async () => {
      const client = await connect({ token }, {}, service.gateway);
      await client.join(chatNo);
      const before = `before: ${name}`;
      expect(await client.send(chatNo, before)).to.include({ status: 200 });

      await fail();
      // Sends of one room are stored one after another: their timeouts added up.
      const during = { chatNo, contentType: 'text', content: `during: ${name}`, clientId: name };
      const sends = Array.from({ length: 5 }, () =>
        client.socket.timeout(IN_TIME_MS).emitWithAck('message:send', during),
      );
      await expectUnavailable();
      const requestId = randomUUID();
      await service.anyone.get('/community/list/recent', { 'X-Request-Id': requestId });
      const [failed, ...more] = linesOf(requestId);
      expect(more).to.deep.equal([]);
      expect(failed).to.include({ level: 'warn', status: 503, path: '/community/list/recent' });
      expect(JSON.stringify(failed).length, 'no state of the driver').to.be.below(2_000);
      expect(String(failed.err.stack), 'no frames of the driver').to.not.match(/node_modules/);
      expect(linesOf(client.socket.id as string)[0]).to.include({ level: 'warn', event: 'message:send' });
      await eventually(async () => expect(await databaseUp()).to.equal('0'));
      for (const answer of (await Promise.all(sends)) as { status: number; retryAfterMs?: number }[]) {
        expect(answer, JSON.stringify(answer)).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
        expect(answer.retryAfterMs).to.be.greaterThan(0);
      }
      expect(client.socket.connected).to.equal(true);

      await proxy.restore();
      await expectBack(client, before);
      // A retry is stored once, whatever the outcome of the first attempts.
      expect(await client.ask('message:send', during)).to.include({ status: 200 });
      const { messages } = await client.join<{ messages: { content: string; seq: number }[] }>(chatNo);
      expect(messages.filter(({ content }) => content === during.content)).to.have.length(1);
      expect(messages.map(({ seq }) => seq)).to.deep.equal(messages.map((_, i) => i + 1));
      // The answer is up to a second old.
      await eventually(async () => expect(await databaseUp()).to.equal('1'));
      client.socket.disconnect();
    });
  }

  it('is logged once when it goes and once when it is back, and no probe is', () => {
    const seen = linesOf('the database is').map(({ level, msg }) => `${level} ${msg}`);
    const both = ['warn the database is away: calls answer 503', 'info the database is back'];
    expect(seen).to.deep.equal([...both, ...both]);
    expect(linesOf('the database is away')[0].reason).to.be.a('string');
    expect(linesOf('readyz')).to.deep.equal([]);
  });

  it('logs each line with its time, level and process, and refused calls as LOG_REQUESTS says', async () => {
    await asker.get('/community/article/999999');
    const client = await connect({ token }, {}, service.gateway);
    await client.ask('nonsense', {});
    await client.join(chatNo);
    expect(linesOf('/community/article/999999')[0]).to.include({
      level: 'info',
      status: 404,
      msg: 'request',
    });
    const ofSocket = linesOf(client.socket.id as string).map(({ event, status }) => [event, status]);
    expect(ofSocket).to.deep.equal([['unknown', 404]]);
    client.socket.disconnect();
    for (const line of linesOf('{')) {
      expect(line).to.include({ name: 'service under test', pid: service.process.pid });
      expect(new Date(line.time).toISOString()).to.equal(line.time);
      expect(line.level).to.be.oneOf(['info', 'warn']);
    }
  });

  it('32: a primary that steps down: acknowledged messages are stored, the rest answers 503, and a retry stores it once', async () => {
    const client = await connect({ token }, {}, service.gateway);
    const contents = Array.from({ length: 1_000 }, (_, i) => `sent ${i}`);
    const send = (content: string) => client.send<{ message: Stored }>(chatNo, content, content);
    const acked = new Map<string, Stored>();
    /** Fifty at a time. */
    async function forEachContent(work: (content: string, i: number) => Promise<void>) {
      for (let from = 0; from < contents.length; from += 50)
        await Promise.all(contents.slice(from, from + 50).map((content, i) => work(content, from + i)));
    }
    await forEachContent(async (content, i) => {
      isSteppingDown = i >= 400 && i < 600;
      const answer = await send(content);
      if (answer.status === 200) acked.set(content, answer.message);
      else expect(answer, content).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
    });
    expect(failedWrites).to.be.at.least(2);
    expect(acked.size).to.be.below(contents.length);
    await forEachContent(async (content) => {
      const { message } = await eventually(async () => {
        const answer = await send(content);
        expect(answer, JSON.stringify(answer)).to.include({ status: 200 });
        return answer;
      });
      expect(message).to.include(acked.get(content) ?? {});
      acked.set(content, message);
    });
    const messages = await allMessages(client);
    const stored = messages.filter(({ content }) => contents.includes(content));
    expect(stored.map(({ id }) => id)).to.have.members([...acked.values()].map(({ id }) => id));
    expect(messages.map(({ seq }) => seq)).to.deep.equal(messages.map((_, i) => i + 1));
  });

  it('34: a write concern that times out after the write: 503, the peer gets the message, and a retry finds it', async () => {
    const author = await service.token('author@example.org');
    const [client, peer] = await Promise.all(
      [token, author].map((one) => connect({ token: one }, {}, service.gateway)),
    );
    if (!client || !peer) throw new Error('not connected');
    await Promise.all([client.join(chatNo), peer.join(chatNo)]);
    const content = 'stored, not acknowledged';
    unacknowledged = 1;
    const refused = await client.send(chatNo, content, content);
    expect(refused).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
    expect(unacknowledged).to.equal(0);
    const shown = await peer.next<Stored>('message', (message) => message.content === content);
    const retried = await client.send<{ message: Stored }>(chatNo, content, content);
    expect(retried, JSON.stringify(retried)).to.include({ status: 200 });
    expect(retried.message).to.include({ id: shown.id, seq: shown.seq });
    const stored = (await allMessages(client)).filter((message) => message.content === content);
    expect(stored.map(({ id }) => id)).to.deep.equal([shown.id]);
  });
});
