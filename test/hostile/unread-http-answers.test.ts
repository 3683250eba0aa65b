import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { ArticleList } from '../../domain/community/index.js';
import type { Domain } from '../../domain/domain.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Config } from '../../domain/platform/settings/config.js';
import type { ClientTimes } from '../../http/server.js';
import { counted } from '../support/counted.js';
import { eventually } from '../support/eventually.js';
import { answerTo, type ServedHttp, serveHttp } from '../support/http-server.js';
import { openTcp, type RawConnection, rawConnection, rawGet } from '../support/raw-connection.js';
import { service } from '../support/service.js';

/** Larger than what the system buffers for a connection. */
const ANSWER_BYTES = 12_000_000;

const LIST = rawGet('/community/list/recent?size=50');

const closedFor = (reason: string) => counted(metrics.connectionsClosed, { reason });

describe('answers that are not read', () => {
  let served: ServedHttp;
  /** Requests whose handling began. */
  let handled: number;
  /** Bytes of the text in each answer. */
  let bytes: number;
  const clients: Socket[] = [];

  /** A server whose article list is one text of `bytes`. */
  async function serve(settings: Partial<Config> = {}, times: Partial<ClientTimes> = {}): Promise<void> {
    const { community } = (await service()).domain;
    const listArticles = async (): Promise<ArticleList> => {
      handled += 1;
      const summary = { id: handled, title: '', author: '', view: 0, comment: 0, like: 0, thumbnail: '' };
      const context = 'x'.repeat(bytes);
      return { hot: null, weekly: null, list: [{ ...summary, context, publishedAt: '' }] };
    };
    const parts: Partial<Domain> = { community: { ...community, listArticles } };
    served = await serveHttp(settings, parts, times);
  }

  beforeEach(() => {
    handled = 0;
    bytes = ANSWER_BYTES;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await served.server.drain();
  });

  /** Sends text, and reads nothing until `resume`. */
  function silent(text: string): Socket {
    const client = openTcp(served.base).pause();
    clients.push(client);
    client.write(text);
    return client;
  }

  function reading(text: string): RawConnection {
    const connection = rawConnection(served.base, text);
    clients.push(connection.socket);
    return connection;
  }

  it('of pipelined requests are made one at a time, in order, each once the one before has left', async () => {
    // All were handled at once: 600 requests held 1.85 GB.
    await serve();
    const client = silent(LIST.repeat(600));
    await eventually(() => expect(answerTo(client)?.response).to.not.equal(undefined));
    // Requests and answers of another connection: the first one's have had their turn.
    for (let i = 0; i < 3; i += 1) expect((await fetch(`${served.base}/healthz`)).status).to.equal(200);
    expect(handled).to.equal(1);
    bytes = 10;
    let text = '';
    client.on('data', (chunk) => {
      text += String(chunk).replaceAll('x', '');
    });
    client.resume();
    await eventually(() => expect(handled).to.equal(600));
    await eventually(() => expect(text.match(/"id":600,/)).to.have.length(1));
    const ids = [...text.matchAll(/"id":(\d+),/g)].map(([, id]) => Number(id));
    expect(ids).to.deep.equal(Array.from({ length: 600 }, (_, i) => i + 1));
  });

  it('behind more than 2 MiB of pipelined requests close the connection', async () => {
    await serve();
    const before = await closedFor('pipelined');
    silent(LIST.repeat(5_000));
    await eventually(async () => expect(await closedFor('pipelined')).to.equal(before + 1));
    expect(handled).to.equal(1);
  });

  it('40: of all connections together hold no more than HTTP_HELD_MIB: the oldest are closed', async () => {
    await serve({ HTTP_HELD_MIB: 30 });
    const before = await closedFor('memory');
    const silents: Socket[] = [];
    for (let i = 1; i <= 6; i += 1) {
      silents.push(silent(LIST));
      await eventually(() => expect(handled).to.equal(i));
    }
    await eventually(async () => expect(await closedFor('memory')).to.be.within(before + 2, before + 4));
    const last = silents.at(-1) as Socket;
    let received = 0;
    last.on('data', ({ length }: Buffer) => {
      received += length;
    });
    last.resume();
    await eventually(() => expect(received).to.be.above(ANSWER_BYTES));
  });

  it('count while they are held only, whoever closes the connection', async () => {
    await serve({ HTTP_HELD_MIB: 30 });
    const before = await closedFor('memory');
    const once = rawGet('/community/list/recent', '', 'Connection: close');
    for (let i = 1; i <= 8; i += 1) {
      const client = silent(i % 2 ? once : LIST);
      await eventually(() => expect(answerTo(client)?.response.writableLength).to.be.above(0));
      const closed = new Promise((resolve) => client.once('close', resolve));
      // Each other one closes before it has read anything.
      if (i % 2) client.resume();
      else client.destroy();
      await closed;
      expect(handled).to.equal(i);
    }
    expect(await closedFor('memory')).to.equal(before);
  });

  it('40: to their end in time close the connection, however steadily they are read', async () => {
    // On a busy machine even a steady reader takes nothing for a second.
    await serve({}, { stalledMs: 3_000, answerMs: 1_200 });
    const before = [await closedFor('stalled'), await closedFor('slow')];
    const startedAt = performance.now();
    const client = silent(LIST);
    let received = 0;
    client.on('data', ({ length }: Buffer) => {
      received += length;
      client.pause();
      setTimeout(() => client.resume(), 20);
    });
    client.resume();
    await new Promise((resolve) => client.once('close', resolve));
    expect(performance.now() - startedAt).to.be.above(1_200);
    expect(received).to.be.within(500_000, ANSWER_BYTES - 1);
    expect([await closedFor('stalled'), await closedFor('slow')]).to.deep.equal([
      before[0],
      (before[1] ?? 0) + 1,
    ]);
  });

  it('are not made for requests whose headers or body do not arrive in time: 408', async () => {
    // Both times were checked only every 30 s.
    await serve({}, { headersMs: 300, requestMs: 600 });
    const unsent = [
      'GET /community/list/recent HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      'POST /community/article HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"a"',
      'POST /chatroom/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nema',
    ].map(reading);
    await Promise.all(unsent.map(({ ended }) => ended));
    expect(unsent[0]?.text).to.match(/^HTTP\/1\.1 408 /);
    expect(unsent[2]?.text).to.match(/^HTTP\/1\.1 408 /);
    expect(handled).to.equal(0);
  });
});
