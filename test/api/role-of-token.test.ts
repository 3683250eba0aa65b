import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import type { ArticleList } from '../../domain/community/index.js';
import { anyone, expectError, member } from '../support/api.js';
import { type RestClient, restClient } from '../support/rest.js';
import { service } from '../support/service.js';
import { closeSockets, connect } from '../support/sockets.js';

describe('the role of a caller', () => {
  let articleId: number;
  /** A token of one member that claims ADMIN. */
  let adminToken: string;
  /** The same member by a token without a role that is a minute older, and has not been used before. */
  let plain: RestClient;
  let plainToken: string;

  before(async () => {
    const author = await member();
    await author.post('/community/article', { categoryId: 1, title: 'T', context: 'C', imageList: [] });
    const { body } = await anyone.get<ArticleList>('/community/list/recent?size=1');
    articleId = body.list[0]?.id as number;
    const { config, http, token } = await service();
    const { email } = await member();
    adminToken = await token(email, { role: 'ADMIN' });
    plainToken = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(email)
      .setIssuedAt(Math.floor(Date.now() / 1_000) - 60)
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(readFileSync(join(config.DATA_DIR, 'jwt-secret'), 'utf8').trim()));
    plain = restClient(() => http, plainToken);
  });
  after(closeSockets);

  const edit = (who: Pick<RestClient, 'patch'>) =>
    who.patch(`/community/article/${articleId}`, { title: 'Edited' });
  const roleOf = async (who: Pick<RestClient, 'get'>) => (await who.get<{ role: string }>('/me')).body.role;

  it('is that of the token in hand, whatever other tokens of the member claim', async () => {
    const { http } = await service();
    const admin = restClient(() => http, adminToken);
    expect((await edit(admin)).status).to.equal(200);
    await expectError(edit(plain), 403, 'FORBIDDEN');
    expect(await roleOf(plain)).to.equal('USER');
    expect(await roleOf(admin)).to.equal('ADMIN');
  });

  it('is lent by no socket, also after auth:refresh with the other token', async () => {
    const socket = await connect({ token: adminToken });
    expect(await socket.ask('auth:refresh', { token: plainToken })).to.include({ status: 200 });
    expect(await socket.ask('auth:refresh', { token: adminToken })).to.include({ status: 200 });
    await expectError(edit(plain), 403, 'FORBIDDEN');
    expect(await roleOf(plain)).to.equal('USER');
  });
});
