import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { expect } from 'chai';
import { type Member, member } from '../support/api.js';
import { service } from '../support/service.js';

/** Far more than any limit, and than the buffers of a connection hold. */
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

  for (const [what, headers] of [
    ['that says its length', { 'Content-Length': LARGE.length }],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
    ['that is no gzip', { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip' }],
  ] as const) {
    it(`${what} leaves its connection to the next request`, async () => {
      for (const path of ['/community/article', '/chatroom/1']) {
        const [status] = await post(path, LARGE, headers);
        expect(status, path).to.be.oneOf([400, 413]);
        expect(await post(path, ''), path).to.deep.equal([400, true]);
      }
    });
  }
});
