import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { constants, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Member, member } from '../support/api.js';
import { nextTurn } from '../support/eventually.js';
import { collectGarbage } from '../support/memory.js';
import { rawConnection } from '../support/raw-connection.js';
import { service } from '../support/service.js';

/** More than any limit, and than the buffers of a connection hold. */
const LARGE = 'x'.repeat(3_000_000);

describe('a body that is too large', () => {
  let me: Member;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  before(async () => {
    me = await member();
  });
  after(() => agent.destroy());

  /** Posts on the one connection. @returns the status, and whether the connection had served before */
  async function post(path: string, body: string, headers: RequestOptions['headers'] = {}) {
    const { http } = await service();
    const sent = request(`${http}${path}`, {
      method: 'POST',
      agent,
      headers: { Authorization: me.token, ...headers },
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return [answer.statusCode, sent.reusedSocket];
  }

  it('is not kept in memory, however much of it is still sent', async () => {
    // An endless body filled the memory of the process.
    const { http } = await service();
    const megabyte = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(1_000_000), Buffer.from('\r\n')]);
    const head = ['POST /community/article HTTP/1.1', 'Host: x', `Authorization: ${me.token}`];
    const { socket, until } = rawConnection(http);
    socket.write([...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n'));
    const send = async (megabytes: number) => {
      for (let i = 0; i < megabytes; i += 1) if (!socket.write(megabyte)) await once(socket, 'drain');
    };
    const held = async () => {
      // Within the turn that has read them, buffers count as used.
      await nextTurn();
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    await Promise.all([until(/PAYLOAD_TOO_LARGE/), send(2)]);
    const before = await held();
    await send(60);
    expect((await held()) - before).to.be.below(30_000_000);
    socket.destroy();
  });

  for (const [what, headers] of [
    ['that says its length', { 'Content-Length': LARGE.length }],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
    ['that is no gzip', { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' }],
  ] as const) {
    it(`${what} leaves its connection usable for the next request`, async () => {
      for (const path of ['/community/article', '/chatroom/1']) {
        const [status] = await post(path, LARGE, headers);
        expect(status, path).to.be.oneOf([400, 413]);
        expect(await post(path, ''), path).to.deep.equal([400, true]);
      }
    });
  }

  it('is refused, and ends no process, when its gzip breaks past the limit', async () => {
    // The decoder failed after the answer, when nothing listened to its errors.
    const { http } = await service();
    const blanks = Buffer.alloc(1024 * 1024 + 20_000, ' ');
    const body = Buffer.concat([
      gzipSync(blanks, { finishFlush: constants.Z_FULL_FLUSH }),
      Buffer.alloc(200, 255),
    ]);
    const answer = await fetch(`${http}/community/article`, {
      method: 'POST',
      headers: { Authorization: me.token, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      body,
    });
    expect(answer.status).to.be.oneOf([400, 413]);
    // The error came a few turns later, and failed this test as an uncaught exception.
    expect((await fetch(`${http}/healthz`)).status).to.equal(200);
  });
});
