import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SignJWT, UnsecuredJWT } from 'jose';
import { call } from '../../support/api.js';
import { service } from '../../support/service.js';
import { connect, refusal } from '../../support/sockets.js';

const now = () => Math.floor(Date.now() / 1_000);

interface Claims {
  [claim: string]: unknown;
}

/** The secret that the service made for itself. */
async function ownSecret(): Promise<string> {
  const { config } = await service();
  return readFileSync(join(config.DATA_DIR, 'jwt-secret'), 'utf8').trim();
}

/** A token signed with the service's own key, good but for what a test changes. */
async function signed(claims: Claims, alg = 'HS256', key?: Uint8Array, header = {}): Promise<string> {
  const all: Claims = { sub: 'somebody@example.org', iat: now(), exp: now() + 60, ...claims };
  const said = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(said)
    .setProtectedHeader({ alg, ...header })
    .sign(key ?? new TextEncoder().encode(await ownSecret()), { crit: { 'urn:example:vital': false } });
}

/** A token under a good HS256 signature, whatever its header says. */
async function signedUnder(header: Claims): Promise<string> {
  const [, payload = ''] = (await signed({})).split('.');
  return signedParts(spelt(JSON.stringify(header)), payload);
}

const spelt = (json: string) => Buffer.from(json).toString('base64url');

/** Header and payload of a good token. */
const HS256 = '{"alg":"HS256"}';
const GOOD = '{"sub":"somebody@example.org","exp":4102444800}';

/** A token of two parts, under a good HS256 signature. */
async function signedParts(header: string, payload: string): Promise<string> {
  const start = `${header}.${payload}`;
  return `${start}.${createHmac('sha256', await ownSecret())
    .update(start)
    .digest('base64url')}`;
}

interface BadToken {
  token(): string | Promise<string>;
  code?: string;
  /** What the client reads. */
  error?: string;
}

const bad: Record<string, BadToken> = {
  garbage: { token: () => 'garbage' },
  'three parts of garbage': { token: () => 'a.b.c' },
  'dots alone': { token: () => '..' },
  'another key': { token: () => signed({}, 'HS256', new Uint8Array(32)) },
  'the algorithm none': {
    token: () => new UnsecuredJWT({ sub: 'somebody@example.org', exp: now() + 60 }).encode(),
  },
  'the right key with HS512': { token: () => signed({}, 'HS512') },
  'another algorithm said under an HS256 signature': { token: () => signedUnder({ alg: 'HS512' }) },
  'the algorithm none said under an HS256 signature': { token: () => signedUnder({ alg: 'none' }) },
  'no algorithm said': { token: () => signedUnder({ typ: 'JWT' }) },
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
  'a header with padding': { token: () => signedParts(`${spelt('{"alg":"HS256" }')}==`, spelt(GOOD)) },
  'a payload with padding': { token: () => signedParts(spelt(HS256), `${spelt(GOOD)}=`) },
  'a payload in base64': {
    token: () =>
      signedParts(spelt(HS256), Buffer.from(`${GOOD.slice(0, -1)},"a":"~~~~"}`).toString('base64')),
  },
  'a payload with a tab in it': {
    token: () => signedParts(spelt(HS256), spelt(GOOD).replace('J', 'J\t')),
  },
  'a payload with a character of no meaning': {
    token: () => signedParts(spelt(HS256), spelt(GOOD).replace('J', 'J!')),
  },
  'a payload with bits left over': {
    // The last character of 47 bytes carries four bits: 0 and 1 spell the same bytes.
    token: () => signedParts(spelt(HS256), spelt(GOOD).replace(/0$/, '1')),
  },
  'a part too many': { token: async () => `${await signed({})}.x` },
  'a token that expired a second ago': { token: () => signed({ exp: now() - 1 }), code: 'TOKEN_EXPIRED' },
  'an nbf further in the future than clocks may differ': {
    token: () => signed({ nbf: now() + 70 }),
    error: "the token's nbf claim is missing or not accepted",
  },
  'an iat further in the future than clocks may differ': {
    token: () => signed({ iat: now() + 70 }),
    error: "the token's iat claim is in the future",
  },
  'no exp': {
    token: () => signed({ exp: undefined }),
    error: "the token's exp claim is missing or not accepted",
  },
  'an exp that is text': { token: () => signed({ exp: 'tomorrow' }) },
  'no sub': {
    token: () => signed({ sub: undefined }),
    error: "the token's sub claim is missing or not accepted",
  },
  'a numeric sub': { token: () => signed({ sub: 42 }) },
  'a sub that is an object': { token: () => signed({ sub: { $ne: null } }) },
  'a sub that is no e-mail address': {
    token: () => signed({ sub: 'somebody' }),
    error: 'the token needs an e-mail address as its sub claim',
  },
  'an e-mail address that is too long': { token: () => signed({ sub: `${'a'.repeat(250)}@example.org` }) },
  'a token of 10 kB': {
    token: () => signed({ nickname: 'n'.repeat(8_000) }),
    error: 'the access token is too long',
  },
};

describe('tokens', () => {
  for (const [name, { token, code = 'UNAUTHORIZED', error: text }] of Object.entries(bad)) {
    it(`6: are refused by REST and socket alike: ${name}`, async () => {
      const jwt = await token();
      for (const path of ['/chatroom', '/community/list/recent', '/adopt/render', '/notification/connect']) {
        const answer = await call<{ errors: string[] }>(path, { headers: { Authorization: jwt } });
        expect(answer.status, path).to.equal(401);
        expect(answer.body).to.include({ status: 401, message: code });
        expect(answer.body.errors).to.be.an('array').with.lengthOf(1);
        if (text) expect(answer.body.errors).to.deep.equal([text]);
        const error = await refusal({ auth: { token: jwt } });
        expect(error.message).to.equal(code);
        expect(error.data).to.deep.equal(answer.body);
      }
    });
  }

  it('are accepted up to 8,192 characters', async () => {
    const { domain } = await service();
    const lengths: Record<string, number[]> = { accepted: [], refused: [] };
    for (let pad = 5_960; lengths.refused?.length !== 2; pad += 1) {
      const jwt = await signed({ pad: 'x'.repeat(pad) });
      const outcome = await domain.members.authenticate(jwt).then(
        () => 'accepted',
        () => 'refused',
      );
      lengths[outcome]?.push(jwt.length);
    }
    expect(Math.max(...(lengths.accepted ?? []))).to.be.within(8_191, 8_192);
    expect(Math.min(...(lengths.refused ?? []))).to.be.within(8_193, 8_194);
  });

  it('are accepted as issuers spell them', async () => {
    const jwt = await signedParts(spelt(HS256), spelt(GOOD));
    expect((await call('/me', { headers: { Authorization: jwt } })).status).to.equal(200);
    await connect({ token: jwt });
  });

  it("are checked with a secret that is nobody else's to read, and that cannot be guessed", async () => {
    const { config } = await service();
    expect(statSync(join(config.DATA_DIR, 'jwt-secret')).mode & 0o777).to.equal(0o600);
    expect(await ownSecret()).to.match(/^[\w-]{64}$/);
    const secrets = readdirSync(config.DATA_DIR).filter((name) => name.startsWith('jwt-secret'));
    expect(secrets, 'nothing is left of making it').to.deep.equal(['jwt-secret']);
  });

  it('are missing in an empty header, the scheme alone, another scheme', async () => {
    for (const Authorization of ['Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', '\t']) {
      const answer = await call('/chatroom', { headers: { Authorization } });
      expect(answer.status, Authorization).to.equal(401);
    }
    expect((await call('/chatroom')).status).to.equal(401);
  });

  it('are accepted bare and after Bearer in any case, from auth.token and the header of a socket', async () => {
    const jwt = await signed({});
    for (const Authorization of [jwt, `Bearer ${jwt}`, `bearer   ${jwt}`]) {
      expect((await call('/chatroom', { headers: { Authorization } })).status).to.equal(200);
    }
    await connect({ token: `Bearer ${jwt}` });
    await connect({ token: jwt }, { auth: {}, extraHeaders: { Authorization: jwt } });
  });

  it('5: refuses a socket without a token, or with something else in its place', async () => {
    for (const auth of [{}, { token: '' }, { token: 7 }, { token: null }, { token: { length: 3 } }]) {
      const error = await refusal({ auth });
      expect(error.message, JSON.stringify(auth)).to.equal('UNAUTHORIZED');
      expect(error.data).to.include({ status: 401, message: 'UNAUTHORIZED' });
    }
  });

  it('name their member by nickname or name, profile or picture, within limits', async () => {
    const { domain } = await service();
    const said = async (claims: Claims) => {
      const jwt = await signed({ sub: `${randomUUID()}@example.org`, ...claims });
      const { nickname, profile, role } = (await domain.members.authenticate(jwt)).actor;
      return { nickname, profile, role };
    };
    expect(
      await said({ nickname: ' a ', name: 'b', profile: '/p', picture: '/q', role: 'ADMIN' }),
    ).to.deep.equal({ nickname: 'a', profile: '/p', role: 'ADMIN' });
    expect(await said({ name: 'n'.repeat(50), picture: 'p'.repeat(2_048) })).to.deep.equal({
      nickname: 'n'.repeat(50),
      profile: 'p'.repeat(2_048),
      role: 'USER',
    });
    const over = { nickname: 'n'.repeat(51), name: 'fits', profile: 'p'.repeat(2_049), picture: 'fits' };
    const cut = `${'n'.repeat(49)}…`;
    expect(await said(over)).to.deep.equal({ nickname: cut, profile: 'fits', role: 'USER' });
    expect(await said({ nickname: '  ', name: 'said' })).to.include({ nickname: 'said' });
    const foreign = { profile: 'javascript:alert(1)', picture: 'https://example.org/a.png' };
    expect(await said(foreign)).to.include({ profile: 'https://example.org/a.png' });
  });

  it('without an iat count as older than those with one', async () => {
    const { domain } = await service();
    const sub = `${randomUUID()}@example.org`;
    const nickname = async (claims: Claims) =>
      (await domain.members.authenticate(await signed({ sub, ...claims }))).actor.nickname;
    expect(await nickname({ iat: undefined, nickname: 'first' })).to.equal('first');
    expect(await nickname({ iat: now() - 10, nickname: 'dated' })).to.equal('dated');
    expect(await nickname({ iat: undefined, nickname: 'undated' })).to.equal('dated');
    expect(await nickname({ iat: now() - 20, nickname: 'older' })).to.equal('dated');
    expect(await nickname({ iat: now(), nickname: 'newer' })).to.equal('newer');
  });

  it('may be issued by a clock that is a minute ahead', async () => {
    const { domain } = await service();
    const sub = `${randomUUID()}@example.org`;
    const jwt = await signed({ sub, iat: now() + 50, nbf: now() + 50 });
    expect((await domain.members.authenticate(jwt)).actor.email).to.equal(sub);
    expect((await call('/me', { headers: { Authorization: jwt } })).status).to.equal(200);
    await connect({ token: jwt });
  });

  it('make an administrator of their own bearer only, whatever was issued before or after', async () => {
    const { domain } = await service();
    const sub = `${randomUUID()}@example.org`;
    const roleOf = async (claims: Claims) =>
      (await domain.members.authenticate(await signed({ sub, ...claims }))).actor.role;
    expect(await roleOf({ iat: now() - 30, role: 'ADMIN' })).to.equal('ADMIN');
    expect(await roleOf({ iat: now() - 20 })).to.equal('USER');
    expect(await roleOf({ iat: now() - 25, role: 'ADMIN' }), 'an older one').to.equal('ADMIN');
    expect(await roleOf({ iat: now() - 40 }), 'older than both').to.equal('USER');
    expect(await roleOf({ iat: undefined }), 'undated').to.equal('USER');
    expect(await roleOf({ iat: now() - 10, role: 'ADMIN' })).to.equal('ADMIN');
    expect(await roleOf({ iat: now() - 5, role: 'ROOT' }), 'no role of ours').to.equal('USER');
  });

  it('give no other role than an imported one', async () => {
    const { domain } = await service();
    const email = `${randomUUID()}@example.org`;
    const roleOf = async (claims: Claims) =>
      (await domain.members.authenticate(await signed({ sub: email, ...claims }))).actor.role;
    await domain.members.record({ email, role: 'ADMIN', issuedAt: now() - 30 });
    expect(await roleOf({ iat: now() - 20 })).to.equal('ADMIN');
    expect(await roleOf({ iat: now() - 15, role: 'USER' })).to.equal('ADMIN');
    await domain.members.saveAll([{ email, role: 'USER', issuedAt: now() - 10 }]);
    expect(await roleOf({ iat: now() - 5, role: 'ADMIN' })).to.equal('USER');
  });

  it('may have an address of 254 characters', async () => {
    const { domain } = await service();
    const sub = `${randomUUID().slice(0, 8)}@${`${'a'.repeat(59)}.`.repeat(4)}com`;
    const longest = `${sub.slice(0, 8)}${'b'.repeat(254 - sub.length)}${sub.slice(8)}`;
    expect(longest).to.have.length(254);
    expect((await domain.members.authenticate(await signed({ sub: longest }))).actor.email).to.equal(longest);
    const over = domain.members.authenticate(await signed({ sub: `b${longest}` }));
    expect(await over.catch((error) => error)).to.include({ code: 'UNAUTHORIZED' });
  });

  it('ignores claims of the wrong type', async () => {
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
