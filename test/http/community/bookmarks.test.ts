import { expect } from 'chai';
import { anyone, expectError, type Member, member } from '../../support/api.js';
import { DRAFT } from '../../support/community.js';
import { service } from '../../support/service.js';

const DONE = { status: 200 };

describe('bookmarks over REST', () => {
  let reader: Member;
  let path: string;

  before(async () => {
    reader = await member({ nickname: 'Reader' });
  });

  beforeEach(async () => {
    const { domain } = await service();
    path = `/community/bookmark/${await domain.community.createArticle(reader.actor, DRAFT)}`;
  });

  it('are added and removed with exactly the status body', async () => {
    const added = await reader.post(path);
    expect([added.status, added.body]).to.deep.equal([200, DONE]);
    const removed = await reader.delete(path);
    expect([removed.status, removed.body]).to.deep.equal([200, DONE]);
    expect((await reader.post(path)).body).to.deep.equal(DONE);
  });

  it('belong to one member each', async () => {
    await reader.post(path);
    const other = await member({ nickname: 'Other' });
    expect((await other.delete(path)).status).to.equal(404);
    expect((await other.post(path)).body).to.deep.equal(DONE);
  });

  it('are refused with 409 when added twice', async () => {
    await reader.post(path);
    await expectError(reader.post(path), 409, 'ALREADY_BOOKMARKED', 'this member has that bookmark already');
  });

  it('are 404 when removed twice', async () => {
    await expectError(reader.delete(path), 404, 'BOOKMARK_NOT_FOUND', 'there is no such bookmark');
  });

  it('are 404 for an unknown article, 400 for nonsense, 401 without a token', async () => {
    const missing = '/community/bookmark/999999999';
    for (const asked of [reader.post(missing), reader.delete(missing)])
      await expectError(asked, 404, 'ARTICLE_NOT_FOUND', 'there is no such article');
    const nonsense = reader.post('/community/bookmark/x');
    await expectError(nonsense, 400, 'INVALID_INPUT', 'targetId: must be a positive whole number');
    expect((await anyone.post(path)).status).to.equal(401);
    expect((await anyone.delete(path)).status).to.equal(401);
  });
});
