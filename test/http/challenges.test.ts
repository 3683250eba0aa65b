import { expect } from 'chai';
import { call } from '../support/api.js';
import { service } from '../support/service.js';

const REALM = 'Bearer realm="adoption"';
const PATHS = ['/me', '/chatroom', '/notification/connect', '/notification/all'];

describe('an answer with status 401 says how to authenticate', () => {
  /** Its `WWW-Authenticate`, the same for all calls, and readable for a page of another origin. */
  async function challenge(authorization: string | undefined): Promise<string | null> {
    const sent: Record<string, string> = { Origin: 'http://localhost:3000' };
    if (authorization !== undefined) sent.Authorization = authorization;
    const told = new Set<string | null>();
    for (const path of PATHS) {
      const { status, headers } = await call(path, { headers: sent });
      expect(status, path).to.equal(401);
      expect(headers.get('access-control-allow-origin'), path).to.equal('http://localhost:3000');
      expect(headers.get('access-control-expose-headers')?.split(','), path).to.include('WWW-Authenticate');
      told.add(headers.get('www-authenticate'));
    }
    expect(told.size).to.equal(1);
    return [...told][0] ?? null;
  }

  it('without a token by the scheme alone', async () => {
    for (const authorization of [undefined, '', 'Bearer', 'bearer ', '\t'])
      expect(await challenge(authorization), authorization).to.equal(REALM);
  });

  it('with a bad one by naming it invalid', async () => {
    const { token } = await service();
    const expired = await token('late@example.org', { ttl: '-1s' });
    for (const bad of ['garbage', 'Bearer a.b.c', 'Basic dXNlcjpwYXNz'])
      expect(await challenge(bad), bad).to.equal(`${REALM}, error="invalid_token"`);
    for (const late of [expired, `Bearer ${expired}`])
      expect(await challenge(late)).to.equal(
        `${REALM}, error="invalid_token", error_description="TOKEN_EXPIRED: the access token has expired"`,
      );
  });

  it('where a bad one is sent that is not needed, too', async () => {
    for (const path of ['/community/list/recent', '/adopt/render']) {
      const { status, headers } = await call(path, { headers: { Authorization: 'garbage' } });
      expect([status, headers.get('www-authenticate')]).to.deep.equal([
        401,
        `${REALM}, error="invalid_token"`,
      ]);
    }
  });

  it('and no other answer does', async () => {
    for (const path of ['/healthz', '/nowhere', '/community/list/recent'])
      expect((await call(path)).headers.get('www-authenticate'), path).to.equal(null);
  });
});
