import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { exportJWK } from 'jose';
import type { Members } from '../../../domain/members/index.js';
import type { Logger } from '../../../domain/platform/observe/logger.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { counted } from '../../support/counted.js';
import { eventually } from '../../support/eventually.js';
import { collectGarbage } from '../../support/memory.js';
import { clock, codeOf, membersWith, pairs, token } from './signed-tokens.js';

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
  /** The set is not answered in time: the token is refused, until the set can be fetched again. */
  async function expectTimeOut(): Promise<void> {
    const before = Date.now();
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
    // No upper bound: a busy machine is slow. Without a limit the test would end by its own.
    expect(Date.now() - before).to.be.at.least(2_500);
    answer = publish('RS256');
    clock.at += 6_000;
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
  }
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

  it('that cannot be fetched is logged at the start and once per outage, and counted each time', async () => {
    const logged: string[] = [];
    const logger = {
      warn: (text: string) => logged.push(text),
      info: (text: string) => logged.push(text),
    };
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/jwks.json`;
    const outages = [
      `JWKS_URL: the key set at 127.0.0.1:${port} cannot be fetched (socket hang up)`,
      'JWKS_URL: the key set is fetched again',
    ];
    answer = down;
    members = await membersWith({ JWKS_URL: url }, logger as unknown as Logger);
    await eventually(() => expect(logged, 'before the first token').to.deep.equal(outages.slice(0, 1)));
    const before = await counted(metrics.keySetFailures);
    for (let outage = 1; outage <= 2; outage += 1) {
      answer = down;
      for (let i = 0; i < 3; i += 1) {
        clock.at += 31_000;
        expect(await codeOf(members, await signedBy('ES256'))).to.equal('UNAUTHORIZED');
      }
      expect((await counted(metrics.keySetFailures)) - before).to.equal(3 * outage);
      answer = publish('RS256');
      clock.at += 31_000;
      await codeOf(members, await signedBy('ES256'));
      expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
      expect(logged.splice(0)).to.deep.equal(outages);
    }
  });

  it('is used for our algorithms only', async () => {
    const P384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const secret = Buffer.from('a secret of the key tests, long enough for HS256');
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

  it('8: is fetched again for a new key, at most once per cool-down', async () => {
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

  it('is fetched again although the clock was set back, after a failure as after a success', async () => {
    answer = down;
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
    for (const alg of ['RS256', 'ES256'] as const) {
      answer = publish(alg);
      clock.at -= 60 * 60_000;
      await eventually(async () => expect(await codeOf(members, await signedBy(alg))).to.equal('accepted'));
    }
    clock.at += 2 * 60 * 60_000;
  });

  it('8: keeps known keys while the address is down', async () => {
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

  it('8: answers 401 until first fetched, without a fetch for every token, and recovers', async () => {
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

  it('8: does not wait for a slow address once it has a set, and times out before', async () => {
    answer = () => {};
    await expectTimeOut();
    answer = () => {};
    clock.at += 11 * 60_000;
    const then = Date.now();
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    expect(Date.now() - then).to.be.below(1_000);
  });

  it('8: times out while its body stalls, also when the garbage collector runs, and keeps the last one', async () => {
    // An abort signal over headers and body was collected with the request, and every token waited for ever.
    const stalled: RequestListener = (_, res) => res.write('{"keys":[');
    const collecting = setInterval(collectGarbage, 500);
    try {
      answer = stalled;
      await expectTimeOut();
      answer = stalled;
      clock.at += 31_000;
      expect(await codeOf(members, await signedBy('ES256'))).to.equal('UNAUTHORIZED');
      expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    } finally {
      clearInterval(collecting);
    }
  });

  it('8: is read up to a mebibyte', async () => {
    const padded =
      (bytes: number): RequestListener =>
      async (_, res) => {
        const key = { ...(await exportJWK(pairs.RS256.publicKey)), kid: 'RS256' };
        res.end(JSON.stringify({ keys: [key] }).padEnd(bytes));
      };
    answer = padded(1024 * 1024 + 1);
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('UNAUTHORIZED');
    answer = padded(1024 * 1024);
    clock.at += 6_000;
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    // A body without an end is not read to the time limit.
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      answer = (_, res) => {
        const more = () => {
          while (!res.destroyed && res.write(' '.repeat(64 * 1024))) sent += 64 * 1024;
        };
        res.on('drain', more).on('close', resolve);
        more();
      };
    });
    clock.at += 11 * 60_000;
    expect(await codeOf(members, await signedBy('RS256'))).to.equal('accepted');
    await closed;
    expect(sent).to.be.below(16 * 1024 * 1024);
  });
});
