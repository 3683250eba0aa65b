import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { call, type Member, member } from '../support/api.js';
import { service } from '../support/service.js';

/** Content types other than JSON; the empty one stands for no header. */
const OTHER_TYPES = [
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'application/xml',
  'x',
  '',
];

describe('the content type of a body', () => {
  let me: Member;
  before(async () => {
    me = await member();
  });

  /** Posts bytes, so that fetch adds no type of its own. @returns status and code of the answer */
  async function post(raw: string | Buffer, type: string, more: Record<string, string> = {}) {
    const { http } = await service();
    const answer = await fetch(`${http}/community/article`, {
      method: 'POST',
      body: typeof raw === 'string' ? Buffer.from(raw) : raw,
      headers: { Authorization: me.token, ...(type ? { 'Content-Type': type } : {}), ...more },
    });
    const { status, message } = (await answer.json()) as { status: number; message?: string };
    expect(answer.status).to.equal(status);
    return [status, message];
  }

  /** The number of the newest article. */
  const listed = async () =>
    (await me.get<{ list: { id: number }[] }>('/community/list/recent')).body.list[0]?.id;

  it('may be any but multipart for a JSON body', async () => {
    const article = '{"categoryId":1,"title":"As JSON","context":"고양이"}';
    for (const type of [...OTHER_TYPES, 'application/json', 'application/merge-patch+json']) {
      expect(await post(article, type), type).to.deep.equal([200, undefined]);
      expect(await post('{}', type), type).to.deep.equal([400, 'INVALID_INPUT']);
      const large = `{"title":"${'x'.repeat(2_000_000)}"}`;
      expect(await post(large, type), type).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    }
    const multipart = await post(article, 'multipart/form-data; boundary=x');
    expect(multipart).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('gives 415 for a body other than JSON, and 400 if it claims JSON', async () => {
    for (const raw of ['title=As+a+form', '{"title":', 'null']) {
      for (const type of OTHER_TYPES) {
        expect(await post(raw, type), type).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
      }
      for (const type of ['application/json;charset=UTF-8', 'application/merge-patch+json']) {
        expect(await post(raw, type), type).to.deep.equal([400, 'MALFORMED_BODY']);
      }
    }
  });

  it('gives 415 for bytes that are no text, unless it claims JSON', async () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    expect(await post(png, 'image/png')).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await post(png, 'application/json')).to.deep.equal([400, 'MALFORMED_BODY']);
  });

  it('allows a byte-order mark before JSON', async () => {
    const article = '\uFEFF{"categoryId":1,"title":"marked","context":"x"}';
    expect(await post(article, 'application/json')).to.deep.equal([200, undefined]);
  });

  it('changes nothing for JSON in another encoding than UTF-8: it is refused, not stored as other text', async () => {
    const before = await listed();
    for (const type of ['application/json;charset=euc-kr', 'application/json', 'text/plain', '']) {
      // "고양이" in EUC-KR; a character cut off; a lone surrogate in three bytes; UTF-16.
      const texts = ['b0edbee7c0cc', 'eab3', 'eda080'].map((hex) => Buffer.from(hex, 'hex'));
      const bodies = texts.map((text) =>
        Buffer.concat([
          Buffer.from('{"categoryId":1,"title":"'),
          text,
          Buffer.from(`","context":"x"${' '.repeat(100_000)}}`),
        ]),
      );
      for (const raw of bodies) expect(await post(raw, type), type).to.deep.equal([400, 'MALFORMED_BODY']);
    }
    expect(await listed()).to.equal(before);
    const replaced = '{"categoryId":1,"title":"\uFFFD is a character, too","context":"고양이"}';
    expect(await post(replaced, 'application/json')).to.deep.equal([200, undefined]);
    const plain = '{"categoryId":1,"title":"in ASCII","context":"x"}';
    expect(await post(plain, 'application/json;charset=iso-8859-1')).to.deep.equal([200, undefined]);
  });

  it('allows compressed JSON; a body that does not unpack, or not to UTF-8, is refused', async () => {
    const article = '{"categoryId":1,"title":"compressed","context":"고양이"}';
    const packers = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    for (const [encoding, pack] of Object.entries(packers)) {
      const packed = { 'Content-Encoding': encoding };
      expect(await post(pack(article), '', packed), encoding).to.deep.equal([200, undefined]);
      for (const bad of [
        Buffer.from(article),
        pack(article).subarray(0, -5),
        pack(Buffer.from('{"\xff":1}', 'latin1')),
      ])
        expect(await post(bad, '', packed), encoding).to.deep.equal([400, 'MALFORMED_BODY']);
    }
  });

  it('reads content codings in any case, by their old names, and identity', async () => {
    const article = '{"categoryId":1,"title":"coded","context":"고양이"}';
    const packed: [string, Buffer][] = [
      ['GZIP', gzipSync(article)],
      ['x-gzip', gzipSync(article)],
      ['X-GZip', gzipSync(article)],
      ['Deflate', deflateSync(article)],
      ['Br', brotliCompressSync(article)],
      ['identity', Buffer.from(article)],
      ['Identity', Buffer.from(article)],
      ['identity, gzip', gzipSync(article)],
    ];
    for (const [coding, raw] of packed)
      expect(await post(raw, '', { 'Content-Encoding': coding }), coding).to.deep.equal([200, undefined]);
  });

  it('changes nothing for an unknown content coding, or for two: 415', async () => {
    for (const type of ['application/json', 'text/plain']) {
      for (const coding of ['rot13', 'compress', 'gzip, gzip', 'gzip, br']) {
        const answer = await post('{}', type, { 'Content-Encoding': coding });
        expect(answer, coding).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
      }
    }
    const refused = await call('/community/article', {
      method: 'POST',
      raw: '{}',
      headers: { Authorization: me.token, 'Content-Encoding': 'rot13' },
    });
    expect(refused.headers.get('accept-encoding'), 'what may be sent').to.equal('gzip, deflate, br');
    expect(refused.body).to.deep.include({
      errors: ['Content-Encoding: must be gzip, deflate, br or identity'],
    });
  });

  it('reads content codings of the form by which a member leaves a room, too', async () => {
    const { http } = await service();
    const leave = async (body: Buffer, coding: string) => {
      const headers = { 'Content-Encoding': coding, 'User-Agent': 'never seen before' };
      const answer = await fetch(`${http}/chatroom/1`, { method: 'POST', body, headers });
      return [answer.status, ((await answer.json()) as { message?: string }).message];
    };
    const form = `email=${encodeURIComponent(me.email)}`;
    for (const [coding, raw] of [
      ['gzip', gzipSync(form)],
      ['X-GZIP', gzipSync(form)],
      ['deflate', deflateSync(form)],
      ['br', brotliCompressSync(form)],
      ['Identity', Buffer.from(form)],
    ] as const)
      expect(await leave(raw, coding), coding).to.deep.equal([200, undefined]);
    expect(await leave(gzipSync('email=nobody'), 'gzip'), 'its text').to.deep.equal([400, 'INVALID_INPUT']);
    expect(await leave(Buffer.from(form), 'gzip')).to.deep.equal([400, 'MALFORMED_BODY']);
    expect(await leave(gzipSync(' '.repeat(16_385)), 'gzip')).to.deep.equal([413, 'PAYLOAD_TOO_LARGE']);
    expect(await leave(Buffer.from(form), 'rot13')).to.deep.equal([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('may claim JSON for the form by which a member leaves a room (legacy)', async () => {
    const answer = await call('/chatroom/1', {
      method: 'POST',
      raw: `email=${encodeURIComponent(me.email)}`,
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'never seen before' },
    });
    expect(answer.body).to.deep.equal({ status: 200 });
  });
});
