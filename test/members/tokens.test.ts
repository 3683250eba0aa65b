import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SignJWT, UnsecuredJWT } from 'jose';
import { call } from '../support/api.js';
import { service } from '../support/service.js';
import { connect, refusal } from '../support/sockets.js';

const now = () => Math.floor(Date.now() / 1_000);

interface Claims {
  [claim: string]: unknown;
}

/** A token signed with the service's own key, good but for what a test changes. */
async function signed(claims: Claims, alg = 'HS256', key?: Uint8Array, header = {}): Promise<string> {
  const { config } = await service();
  const own = config.JWT_SECRET ?? readFileSync(join(config.DATA_DIR, 'jwt-secret'), 'utf8').trim();
  const all: Claims = { sub: 'somebody@example.org', iat: now(), exp: now() + 60, ...claims };
  const said = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(said)
    .setProtectedHeader({ alg, ...header })
    .sign(key ?? new TextEncoder().encode(own), { crit: { 'urn:example:vital': false } });
}

const bad: Record<string, { token(): string | Promise<string>; code?: string }> = {
  garbage: { token: () => 'garbage' },
  'three parts of garbage': { token: () => 'a.b.c' },
  'dots alone': { token: () => '..' },
  'another key': { token: () => signed({}, 'HS256', new Uint8Array(32)) },
  'the algorithm none': {
    token: () => new UnsecuredJWT({ sub: 'somebody@example.org', exp: now() + 60 }).encode(),
  },
  'the right key with HS512': { token: () => signed({}, 'HS512') },
  'a header that demands what we do not know': {
    token: () => signed({}, 'HS256', undefined, { crit: ['urn:example:vital'], 'urn:example:vital': true }),
  },
  'claims exchanged under a good signature': {
    async token() {
      const [mine, others] = [await signed({}), await signed({ sub: 'another@example.org' })];
      const [header, , signature] = mine.split('.');
      return [header, others.split('.')[1], signature].join('.');
    },
  },
  'a signature in another spelling': {
    async token() {
      const jwt = await signed({});
      // The last of 43 characters carries four bits, so four of them spell the same bytes.
      const spelling = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      return `${jwt.slice(0, -1)}${spelling[spelling.indexOf(jwt.at(-1) as string) + 1]}`;
    },
  },
  'a part too many': { token: async () => `${await signed({})}.x` },
  'a token that expired a second ago': { token: () => signed({ exp: now() - 1 }), code: 'TOKEN_EXPIRED' },
  'a token that is not valid yet': { token: () => signed({ nbf: now() + 60 }) },
  'no exp': { token: () => signed({ exp: undefined }) },
  'an exp that is text': { token: () => signed({ exp: 'tomorrow' }) },
  'no sub': { token: () => signed({ sub: undefined }) },
  'a numeric sub': { token: () => signed({ sub: 42 }) },
  'a sub that is an object': { token: () => signed({ sub: { $ne: null } }) },
  'a sub that is no e-mail address': { token: () => signed({ sub: 'somebody' }) },
  'an e-mail address that is too long': { token: () => signed({ sub: `${'a'.repeat(250)}@example.org` }) },
  'a token of 10 kB': { token: () => signed({ nickname: 'n'.repeat(8_000) }) },
};

describe('tokens', () => {
  for (const [name, { token, code = 'UNAUTHORIZED' }] of Object.entries(bad)) {
    it(`are refused by REST and socket alike: ${name}`, async () => {
      const jwt = await token();
      for (const path of ['/chatroom', '/community/list/recent', '/adopt/render', '/notification/connect']) {
        const answer = await call<{ errors: string[] }>(path, { headers: { Authorization: jwt } });
        expect(answer.status, path).to.equal(401);
        expect(answer.body).to.include({ status: 401, message: code });
        expect(answer.body.errors).to.be.an('array').with.lengthOf(1);
        const error = await refusal({ auth: { token: jwt } });
        expect(error.message).to.equal(code);
        expect(error.data).to.deep.equal(answer.body);
      }
    });
  }

  it('are refused where there is none: an empty header, the scheme alone, another scheme', async () => {
    for (const Authorization of ['Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', '\t']) {
      const answer = await call('/chatroom', { headers: { Authorization } });
      expect(answer.status, Authorization).to.equal(401);
    }
    expect((await call('/chatroom')).status).to.equal(401);
  });

  it('are taken raw and after Bearer in any case, from auth.token and the header of a socket', async () => {
    const jwt = await signed({});
    for (const Authorization of [jwt, `Bearer ${jwt}`, `bearer   ${jwt}`]) {
      expect((await call('/chatroom', { headers: { Authorization } })).status).to.equal(200);
    }
    await connect({ token: `Bearer ${jwt}` });
    await connect({ token: jwt }, { auth: {}, extraHeaders: { Authorization: jwt } });
  });

  it('refuses a socket without a token, or with something else in its place', async () => {
    for (const auth of [{}, { token: '' }, { token: 7 }, { token: null }, { token: { length: 3 } }]) {
      const error = await refusal({ auth });
      expect(error.message, JSON.stringify(auth)).to.equal('UNAUTHORIZED');
      expect(error.data).to.include({ status: 401, message: 'UNAUTHORIZED' });
    }
  });

  it('ignores claims of other types than they should have', async () => {
    const { domain } = await service();
    const jwt = await signed({
      sub: 'odd-claims@example.org',
      nickname: { $ne: 1 },
      picture: ['x'],
      role: 'ROOT',
      name: 'Odd',
    });
    const { actor } = await domain.members.authenticate(jwt);
    expect(actor).to.include({ nickname: 'Odd', profile: '', role: 'USER' });
  });
});
