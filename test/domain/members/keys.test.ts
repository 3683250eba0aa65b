import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt, exportJWK, SignJWT } from 'jose';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createMembers, issueToken, type Members } from '../../../domain/members/index.js';
import { loadConfig } from '../../../domain/platform/config.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../../support/service.js';

const clock = {
  at: Date.now(),
  now() {
    return this.at;
  },
};

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

/** Other algorithms that the same key can sign with. */
const KIN = { RS256: ['PS256', 'RS512'], ES256: [], EdDSA: ['Ed25519'] };

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string;

/** Members over the running database, with keys of the test's own. */
async function membersWith(settings: Record<string, string>): Promise<Members> {
  const { config } = await service();
  return createMembers(loadConfig({ NODE_ENV: 'test', ...settings }, config.DATA_DIR), clock);
}

let counter = 0;

/** A token of a new address each time, so that none is remembered as accepted. */
function token(
  alg: string,
  key: KeyObject | Uint8Array,
  header: Record<string, unknown> = {},
  claims: Record<string, unknown> = {},
): Promise<string> {
  counter += 1;
  return new SignJWT({ sub: `key-${counter}@example.org`, ...claims })
    .setProtectedHeader({ alg, ...header })
    .setExpirationTime(Math.floor(clock.at / 1_000) + 86_400)
    .sign(key);
}

async function codeOf(members: Members, jwt: string): Promise<string> {
  try {
    await members.authenticate(jwt);
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('public keys', () => {
  for (const alg of ['RS256', 'ES256', 'EdDSA'] as const) {
    it(`accepts a PEM of ${alg}, also with escaped line breaks, and tokens of that algorithm only`, async () => {
      const { publicKey, privateKey } = pairs[alg];
      const pem = pemOf(publicKey);
      const members = await membersWith({ JWT_PUBLIC_KEY: pem.replaceAll('\n', '\\n') });
      expect(await codeOf(members, await token(alg, privateKey))).to.equal('accepted');
      // RFC 8725, 2.1: the public key, taken for an HMAC secret, must not verify anything.
      expect(await codeOf(members, await token('HS256', Buffer.from(pem)))).to.equal('UNAUTHORIZED');
      for (const another of KIN[alg])
        expect(await codeOf(members, await token(another, privateKey)), another).to.equal('UNAUTHORIZED');
      const [other] = Object.entries(pairs).filter(([name]) => name !== alg);
      if (other)
        expect(await codeOf(members, await token(other[0], other[1].privateKey))).to.equal('UNAUTHORIZED');
    });
  }

  it('refuses another kind of key, naming the variable', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    for (const pem of [
      pemOf(publicKey),
      pemOf(weak),
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    ]) {
      const thrown = await membersWith({ JWT_PUBLIC_KEY: pem }).catch((error: Error) => error);
      expect(thrown).to.be.an('error');
      expect((thrown as Error).message).to.match(/^JWT_PUBLIC_KEY: [^\n]+$/);
    }
  });
});

/** A secret of the test's own. */
const SECRET = 'a secret of the key tests, long enough for HS256';

describe('whatever the key, a token', () => {
  const { publicKey, privateKey } = pairs.EdDSA;
  for (const [alg, key, settings] of [
    ['EdDSA', privateKey, { JWT_PUBLIC_KEY: pemOf(publicKey) }],
    ['HS256', Buffer.from(SECRET), { JWT_SECRET: SECRET }],
  ] as const) {
    it(`of ${alg} has the configured issuer and audience`, async () => {
      const members = await membersWith({
        ...settings,
        JWT_ISSUER: 'https://id.example.org',
        JWT_AUDIENCE: 'adoption',
      });
      const right = { iss: 'https://id.example.org', aud: ['other', 'adoption'] };
      expect(await codeOf(members, await token(alg, key, {}, right))).to.equal('accepted');
      for (const wrong of [
        {},
        { iss: right.iss },
        { aud: right.aud },
        { ...right, iss: 'https://evil.example.org' },
        { ...right, aud: 'other' },
      ]) {
        expect(await codeOf(members, await token(alg, key, {}, wrong))).to.equal('UNAUTHORIZED');
      }
    });

    it(`of ${alg} is valid from nbf to exp, by our clock and to the second`, async () => {
      const members = await membersWith(settings);
      const second = Math.floor(clock.at / 1_000);
      // Its exp is a day from now.
      for (const [offset, code] of [
        [-1, 'UNAUTHORIZED'],
        [0, 'accepted'],
        [86_399, 'accepted'],
        [86_400, 'TOKEN_EXPIRED'],
      ] as const) {
        const jwt = await token(alg, key, {}, { nbf: second });
        clock.at = (second + offset) * 1_000;
        expect(await codeOf(members, jwt), `${offset}`).to.equal(code);
        clock.at = second * 1_000;
      }
    });
  }

  it('is verified with a secret that is created when needed, with its folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-keys-'));
    const config = loadConfig({ NODE_ENV: 'test', DATA_DIR: join(folder, 'not', 'yet') }, folder);
    const jwt = await issueToken(config, { email: 'made@example.org', ttl: '1h' });
    expect(await codeOf(await createMembers(config, systemClock), jwt)).to.equal('accepted');
    expect(readdirSync(config.DATA_DIR)).to.deep.equal(['jwt-secret']);
    rmSync(folder, { recursive: true });
  });

  it('is signed here only with a configured secret, for its issuer and audience', async () => {
    const settings = { NODE_ENV: 'test', JWT_ISSUER: 'us', JWT_AUDIENCE: 'you' };
    const request = { email: 'signed@example.org', ttl: '1h' };
    const config = loadConfig({ ...settings, JWT_SECRET: SECRET }, '/nowhere');
    const jwt = await issueToken(config, request);
    const members = await createMembers(config, systemClock);
    expect(await codeOf(members, jwt)).to.equal('accepted');
    const { iat, exp, ...said } = decodeJwt(jwt);
    expect(said).to.deep.equal({ sub: 'signed@example.org', iss: 'us', aud: 'you' });
    expect(iat).to.be.within(Date.now() / 1_000 - 60, Date.now() / 1_000);
    expect(exp).to.equal(Number(iat) + 3_600);
    for (const elsewhere of [
      { JWT_PUBLIC_KEY: pemOf(pairs.ES256.publicKey) },
      { JWKS_URL: 'https://id.example.org/' },
    ]) {
      const refused = await issueToken(loadConfig({ ...settings, ...elsewhere }, '/nowhere'), request).catch(
        (error: Error) => error,
      );
      expect(refused)
        .to.be.an('error')
        .with.property('message')
        .that.matches(/^JWT_SECRET: /);
    }
  });
});

describe('a key set', () => {
  let server: Server;
  let members: Members;
  let fetches: number;
  let answer: RequestListener;
  const publish =
    (...names: (keyof typeof pairs)[]): RequestListener =>
    async (_, res) => {
      const keys = await Promise.all(
        names.map(async (alg) => ({ ...(await exportJWK(pairs[alg].publicKey)), kid: alg, alg, use: 'sig' })),
      );
      res.end(JSON.stringify({ keys }));
    };
  const down: RequestListener = (req) => req.socket.destroy();
  const signedBy = (kid: keyof typeof pairs) => token(kid, pairs[kid].privateKey, { kid });

  beforeEach(async () => {
    fetches = 0;
    answer = publish('RS256');
    server = createServer((req, res) => {
      fetches += 1;
      answer(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    members = await membersWith({ JWKS_URL: `http://127.0.0.1:${port}/jwks.json` });
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is fetched once for many tokens', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => signedBy('RS256')));
    const codes = await Promise.all(tokens.map((jwt) => codeOf(members, jwt)));
    expect(codes).to.deep.equal(Array(20).fill('accepted'));
    expect(fetches).to.equal(1);
  });

  it('is used for our algorithms only', async () => {
    const P384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const secret = Buffer.from(SECRET);
    answer = async (_, res) => {
      const keys = [
        { ...(await exportJWK(pairs.RS256.publicKey)), kid: 'rsa' },
        { ...(await exportJWK(P384.publicKey)), kid: 'p384' },
        { kty: 'oct', k: secret.toString('base64url'), kid: 'oct' },
      ];
      res.end(JSON.stringify({ keys }));
    };
    for (const [alg, key, kid, code] of [
      ['RS256', pairs.RS256.privateKey, 'rsa', 'accepted'],
      ['PS256', pairs.RS256.privateKey, 'rsa', 'accepted'],
      ['RS512', pairs.RS256.privateKey, 'rsa', 'UNAUTHORIZED'],
      ['ES384', P384.privateKey, 'p384', 'UNAUTHORIZED'],
      ['HS256', secret, 'oct', 'UNAUTHORIZED'],
    ] as const) {
      expect(await codeOf(members, await token(alg, key, { kid })), alg).to.equal(code);
    }
  });

  it('is requested as a key set', async () => {
    let accept: string | undefined;
    const keys = answer;
    answer = (req, res) => {
      accept = req.headers.accept;
      keys(req, res);
    };
    await codeOf(members, await signedBy('RS256'));
    expect(accept).to.equal('application/jwk-set+json, application/json');
  });

  it('is fetched again after ten minutes, so that withdrawn keys expire', async () => {
    answer = publish('RS256', 'ES256');
    expect(await codeOf(members, await signedBy('ES256'))).to.equal('accepted');
    answer = publish('RS256');
    clock.at += 10 * 60_000 - 1;
    expect(await codeOf(members, await signedBy('ES256'))).to.equal('accepted');
    expect(fetches, 'not before').to.equal(1);
    clock.at += 1;
    await eventually(async () =>
      expect(await codeOf(members, await signedBy('ES256'))).to.equal('UNAUTHORIZED'),
    );
    expect(fetches).to.equal(2);
  });

  it('is fetched again for a new key, at most once per cool-down', async () => {
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    answer = publish('RS256', 'ES256');
    for (let i = 0; i < 5; i += 1)
      expect(await codeOf(members, await signedBy('ES256'))).to.equal('UNAUTHORIZED');
    clock.at += 29_999;
    expect(await codeOf(members, await signedBy('ES256'))).to.equal('UNAUTHORIZED');
    expect(fetches).to.equal(1);
    clock.at += 1;
    expect(await codeOf(members, await signedBy('ES256'))).to.equal('accepted');
    for (let i = 0; i < 5; i += 1)
      expect(await codeOf(members, await signedBy('EdDSA'))).to.equal('UNAUTHORIZED');
    expect(fetches).to.equal(2);
  });

  it('keeps known keys while the address is down', async () => {
    // jose's own remote set refuses every token from ten minutes after its last fetch on.
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    answer = down;
    for (let i = 0; i < 5; i += 1) {
      clock.at += 11 * 60_000;
      expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    }
    answer = publish('ES256');
    clock.at += 60_000;
    expect(await codeOf(members, await signedBy('ES256'))).to.equal('accepted');
    expect(await codeOf(members, await signedBy('RS256')), 'a withdrawn key').to.equal('UNAUTHORIZED');
  });

  it('answers 401 until first fetched, without a fetch for every token, and recovers', async () => {
    const elsewhere = createServer(publish('RS256')).listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    const { port } = elsewhere.address() as AddressInfo;
    for (const broken of [
      down,
      ((_, res) => res.writeHead(500).end()) as RequestListener,
      ((_, res) => res.end('<html>')) as RequestListener,
      ((_, res) => res.end('{"keys":"none"}')) as RequestListener,
      // Whoever may redirect us may not name our keys.
      ((_, res) => res.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end()) as RequestListener,
      // Keys under any other status are somebody's error page.
      ((req, res) => publish('RS256')(req, res.writeHead(203))) as RequestListener,
    ]) {
      fetches = 0;
      answer = broken;
      expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
      clock.at += 4_999;
      for (let i = 0; i < 5; i += 1)
        expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
      expect(fetches).to.equal(1);
      clock.at += 1;
    }
    elsewhere.close();
    answer = publish('RS256');
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
  });

  it('does not wait for a slow address once it has a set, and times out before', async () => {
    answer = () => {};
    const before = Date.now();
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
    expect(Date.now() - before).to.be.within(2_500, 5_000);
    answer = publish('RS256');
    clock.at += 6_000;
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    answer = () => {};
    clock.at += 11 * 60_000;
    const then = Date.now();
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    expect(Date.now() - then).to.be.below(1_000);
  });
});
