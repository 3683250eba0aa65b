import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { call, type Member } from '../support/api.js';
import { openRoom, push } from '../support/chat.js';
import { rawConnection } from '../support/raw-connection.js';
import { service } from '../support/service.js';

interface Refusal {
  message: string;
  errors: string[];
}

describe('what a body may cost', () => {
  let me: Member;
  let message: (more: object) => string;
  before(async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    me = asker;
    message = (more) => JSON.stringify({ ...push(chatNo, saleNo, 'hello'), ...more });
  });
  afterEach(async () => Object.assign((await service()).config, { LEGACY_ANONYMOUS: 'bound' }));

  /** Posts a message's body. @returns status, code and texts */
  async function post(raw: string | Buffer, headers: Record<string, string> = {}) {
    const { http } = await service();
    const type = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${http}/chatroom/notification`, {
      method: 'POST',
      headers: { ...type, ...headers },
      body: raw,
    });
    const { message: code, errors } = (await answer.json()) as Refusal;
    return { status: answer.status, code, errors };
  }

  it('has room for the longest message, however it is escaped', async () => {
    const escaped = '\\ud83d\\udc08'.repeat(2_500);
    const raw = message({}).replace('hello', escaped);
    expect((await post(raw, { Authorization: me.token })).status).to.equal(200);
  });

  it('is 64 KiB, to the byte', async () => {
    const sized = (size: number) => `{"chatNo":${' '.repeat(size - 12)}1}`;
    expect((await post(sized(64 * 1024))).status).to.equal(400);
    expect(await post(sized(64 * 1024 + 1))).to.deep.equal({
      ...{ status: 413, code: 'PAYLOAD_TOO_LARGE' },
      errors: ['the body is larger than 65536 bytes'],
    });
  });

  it('is nothing for a decoder, without a token', async () => {
    for (const [coding, raw] of [
      ['gzip', gzipSync(message({}))],
      ['BR', brotliCompressSync(message({}))],
      ['identity, x-gzip', gzipSync(message({}))],
      ['rot13', Buffer.from(message({}))],
    ] as const) {
      const { status, code, errors } = await post(raw, { 'Content-Encoding': coding });
      expect([status, code], coding).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
      expect(errors, coding).to.deep.equal(['Content-Encoding: compressed JSON needs a token']);
    }
    expect((await post(message({}), { 'Content-Encoding': 'identity' })).status).to.equal(200);
    const packed = { 'Content-Encoding': 'gzip', Authorization: me.token };
    expect((await post(gzipSync(message({})), packed)).status).to.equal(200);
  });

  it('is bounded in levels and values, wherever they are', async () => {
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
    const { length } = Object.keys(JSON.parse(message({})));
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0]));
    const own = { Authorization: me.token };
    for (const [more, fault] of [
      [{ senderName: nested(31) }, undefined],
      [{ senderName: nested(32) }, 'body: has more than 32 levels'],
      [{ unknown: nested(32) }, 'body: has more than 32 levels'],
      [keys(5_000 - length), undefined],
      [keys(5_001 - length), 'body: has more than 5000 values'],
      [{ unknown: Array.from({ length: 5_000 - length }, () => 0) }, undefined],
      [{ unknown: Array.from({ length: 5_001 - length }, () => 0) }, 'body: has more than 5000 values'],
      // Of text, brackets, commas and quotes mean nothing.
      [{ content: `"\\[{,`.repeat(1_000) }, undefined],
      [{ content: 'x\\' }, undefined],
    ] as const) {
      const { status, errors } = await post(message(more), own);
      expect([status, errors?.[0]]).to.deep.equal(fault ? [400, fault] : [200, undefined]);
    }
    const form = await call<Refusal>('/chatroom/1', { method: 'POST', raw: '{"a":'.repeat(33) });
    expect(form.body.errors).to.deep.equal(['body: has more than 32 levels']);
  });

  it('is not even waited for where a token is missing that no body can replace', async () => {
    const { http, config } = await service();
    Object.assign(config, { LEGACY_ANONYMOUS: 'off' });
    const head = ['POST /chatroom/notification HTTP/1.1', 'Host: x', 'Content-Length: 60000', '', ''];
    const { socket, until } = rawConnection(http, head.join('\r\n'));
    await until(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });
});
