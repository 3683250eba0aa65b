import { expect } from 'chai';
import { decodeJwt } from 'jose';
import type { Domain } from '../../domain/domain.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { member } from '../support/api.js';
import { openRoom, push } from '../support/chat.js';
import { type ServedHttp, serveHttp } from '../support/http-server.js';
import { service } from '../support/service.js';

const APP = 'https://app.example.org';
const LOCAL = 'http://localhost:3000';

const when = (condition: boolean, value: string) => (condition ? value : null);

describe('CORS and the session cookie', () => {
  const running: ServedHttp[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ server }) => server.drain()));
  });

  async function serve(settings: Partial<Config>, parts: Partial<Domain> = {}): Promise<string> {
    const served = await serveHttp(settings, parts);
    running.push(served);
    return served.base;
  }

  /** By setting: whether each origin may call, and with cookies. */
  const settings: [string[] | undefined, [origin: string, mayCall: boolean, withCookies: boolean][]][] = [
    [
      undefined,
      [
        [LOCAL, true, true],
        [APP, false, false],
      ],
    ],
    [
      [APP],
      [
        [APP, true, true],
        [LOCAL, false, false],
      ],
    ],
    [
      ['*', LOCAL],
      [
        [APP, true, false],
        [LOCAL, true, false],
      ],
    ],
  ];
  for (const [CORS_ORIGINS, pages] of settings) {
    it(`allow the right origins with CORS_ORIGINS ${CORS_ORIGINS ?? 'unset'}`, async () => {
      const base = await serve({ CORS_ORIGINS });
      for (const [origin, mayCall, withCookies] of pages) {
        const asked = await fetch(`${base}/chatroom`, {
          method: 'OPTIONS',
          headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
        });
        const answer = await fetch(`${base}/community/list/recent`, { headers: { Origin: origin } });
        for (const { headers } of [asked, answer]) {
          expect(headers.get('access-control-allow-origin'), origin).to.equal(when(mayCall, origin));
          const credentials = headers.get('access-control-allow-credentials');
          expect(credentials, origin).to.equal(when(withCookies, 'true'));
        }
        expect(asked.headers.get('access-control-max-age')).to.equal(when(mayCall, '600'));
        const exposed = answer.headers.get('access-control-expose-headers');
        expect(exposed).to.equal(when(mayCall, 'X-Request-Id,Retry-After,WWW-Authenticate'));
      }
    });
  }

  it('with CORS_ORIGINS=* identify no caller by cookie or address for any page', async () => {
    const base = await serve({ CORS_ORIGINS: ['*'] });
    const { asker, chatNo, saleNo } = await openRoom();
    const agent = { 'User-Agent': 'a phone' };
    await fetch(`${base}/chatroom`, { headers: { ...agent, Authorization: asker.token } });
    const send = async (headers: Record<string, string>) => {
      const answer = await fetch(`${base}/chatroom/notification`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(push(chatNo, saleNo, JSON.stringify(headers))),
      });
      return answer.status;
    };
    const cookie = { 'User-Agent': 'another', Cookie: `session=${asker.token}` };
    expect(await send({ ...cookie, Origin: APP })).to.equal(401);
    expect(await send({ ...cookie, Origin: LOCAL })).to.equal(401);
    expect(await send({ ...agent, Origin: APP })).to.equal(401);
    expect(await send({ ...cookie, Origin: APP, Authorization: asker.token })).to.equal(200);
    // A client other than a browser's page sends no Origin.
    expect(await send(cookie)).to.equal(200);
    expect(await send(agent)).to.equal(200);
  });

  it('set the token as cookie until it expires, for TLS only behind a trusted TLS proxy', async () => {
    const [proxied, direct] = [await serve({ TRUST_PROXY: 1 }), await serve({})];
    const { token } = await member();
    const expires = new Date((decodeJwt(token).exp as number) * 1_000).toUTCString();
    const cookieOf = async (base: string, more: Record<string, string>) => {
      const headers = { Authorization: token, ...more };
      return (await fetch(`${base}/chatroom`, { headers })).headers.get('set-cookie');
    };
    const cookie = (site: string) =>
      `session=${token}; path=/chatroom; expires=${expires}; ${site}; httponly`;
    const tls = { 'X-Forwarded-Proto': 'https' };
    expect(await cookieOf(proxied, tls)).to.equal(cookie('samesite=none; secure'));
    expect(await cookieOf(proxied, {})).to.equal(cookie('samesite=lax'));
    expect(await cookieOf(proxied, tls)).to.equal(cookie('samesite=none; secure'));
    expect(await cookieOf(direct, tls), 'anybody can say so').to.equal(cookie('samesite=lax'));
    expect(await cookieOf(direct, { Cookie: `other=1; session=${token}` }), 'is there').to.equal(null);
    expect(await cookieOf(direct, { Cookie: 'session=another' })).to.equal(cookie('samesite=lax'));
    expect((await fetch(`${direct}/community/list/recent`)).headers.get('set-cookie')).to.equal(null);
  });

  it('set no cookie for a token with characters that no cookie can hold', async () => {
    const { token } = await member();
    const { domain } = await service();
    // Verifiers of foreign keys may accept other spellings of Base64.
    const members = { ...domain.members, authenticate: () => domain.members.authenticate(token) };
    const base = await serve({}, { members });
    for (const Authorization of [`${token} x`, `${token}; path=/`, `${token}+`]) {
      const answer = await fetch(`${base}/chatroom`, { headers: { Authorization } });
      expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([200, null]);
    }
  });
});
