import { expect } from 'chai';
import { anyone, errorBody, type Member, member } from '../../support/api.js';
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
    const draft = { categoryId: 1, title: 'Title', context: 'Text', imageList: [], thumbnail: '' };
    path = `/community/bookmark/${await domain.community.createArticle(reader.actor, draft)}`;
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

  it('added twice are 409', async () => {
    await reader.post(path);
    const { status, body } = await reader.post(path);
    expect([status, body]).to.deep.equal([
      409,
      errorBody(409, 'ALREADY_BOOKMARKED', 'this member has that bookmark already'),
    ]);
  });

  it('are 404 when removed twice', async () => {
    const { status, body } = await reader.delete(path);
    expect([status, body]).to.deep.equal([
      404,
      errorBody(404, 'BOOKMARK_NOT_FOUND', 'there is no such bookmark'),
    ]);
  });

  it('are 404 for an unknown article, 400 for nonsense, 401 without a token', async () => {
    const missing = errorBody(404, 'ARTICLE_NOT_FOUND', 'there is no such article');
    expect((await reader.post('/community/bookmark/999999999')).body).to.deep.equal(missing);
    expect((await reader.delete('/community/bookmark/999999999')).body).to.deep.equal(missing);
    const nonsense = errorBody(400, 'INVALID_INPUT', 'targetId: must be a positive whole number');
    expect((await reader.post('/community/bookmark/x')).body).to.deep.equal(nonsense);
    expect((await anyone.post(path)).status).to.equal(401);
    expect((await anyone.delete(path)).status).to.equal(401);
  });
});
