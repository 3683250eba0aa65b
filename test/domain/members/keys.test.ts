import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createMembers, issueToken } from '../../../domain/members/index.js';
import type { Logger } from '../../../domain/platform/observe/logger.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { loadConfig } from '../../../domain/platform/settings/config.js';
import { clock, codeOf, membersWith, pairs, token } from './signed-tokens.js';

/** Other algorithms that the same key can sign with. */
const KIN = { RS256: ['PS256', 'RS512'], ES256: [], EdDSA: ['Ed25519'] };

const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string;

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

    it(`of ${alg} is valid from a minute before its nbf to its exp, by our clock and to the second`, async () => {
      const members = await membersWith(settings);
      const second = Math.floor(clock.at / 1_000);
      // Its exp is a day from now.
      for (const [offset, code] of [
        [-61, 'UNAUTHORIZED'],
        [-60, 'accepted'],
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

  it('says once which host does not give out the key set, without the password of its address', async () => {
    const lines: string[] = [];
    const logger = { warn: (line: string) => lines.push(line) } as unknown as Logger;
    const config = loadConfig({ JWKS_URL: 'http://me:secret@127.0.0.1:1/keys' }, '/nowhere');
    const members = await createMembers(config, clock, logger);
    for (let n = 0; n < 2; n += 1) {
      expect(await codeOf(members, await token('RS256', pairs.RS256.privateKey))).to.equal('UNAUTHORIZED');
      clock.at += 60_000;
    }
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^JWKS_URL: the key set at 127\.0\.0\.1:1 cannot be fetched \(.+\)$/);
    expect(lines[0]).not.to.include('secret');
  });

  it('is verified with a secret that is created when needed, with its folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'adoption-keys-'));
    const config = loadConfig({ NODE_ENV: 'test', DATA_DIR: join(folder, 'not', 'yet') }, folder);
    const jwt = await issueToken(config, { email: 'made@example.org', ttl: '1h' });
    expect(
      await codeOf(await createMembers(config, systemClock, createLogger('silent', 'test')), jwt),
    ).to.equal('accepted');
    expect(readdirSync(config.DATA_DIR)).to.deep.equal(['jwt-secret']);
    rmSync(folder, { recursive: true });
  });

  it('is signed here only with a configured secret, for its issuer and audience', async () => {
    const settings = { NODE_ENV: 'test', JWT_ISSUER: 'us', JWT_AUDIENCE: 'you' };
    const request = { email: 'signed@example.org', ttl: '1h' };
    const config = loadConfig({ ...settings, JWT_SECRET: SECRET }, '/nowhere');
    const jwt = await issueToken(config, request);
    const members = await createMembers(config, systemClock, createLogger('silent', 'test'));
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
