import { expect } from 'chai';
import type { ArticleDetail, CommentView } from '../../../domain/community/index.js';
import { anyone, expectError, type Member, member, type Reply } from '../../support/api.js';
import { DRAFT } from '../../support/community.js';
import { service } from '../../support/service.js';

describe('hearts over REST', () => {
  let author: Member;
  let other: Member;
  let targets: { article: number; comment: number };

  before(async () => {
    author = await member({ nickname: 'Author' });
    other = await member({ nickname: 'Other' });
  });

  beforeEach(async () => {
    const { domain } = await service();
    const article = await domain.community.createArticle(author.actor, DRAFT);
    const draft = { articleId: article, parentId: 0, context: 'Hi' };
    const comment = await domain.community.createComment(author.actor, draft);
    targets = { article, comment };
  });

  /** The target's like count, read back. */
  async function likes(target: 'article' | 'comment'): Promise<number | undefined> {
    if (target === 'article') {
      return (await anyone.get<ArticleDetail>(`/community/article/${targets.article}`)).body.header.like;
    }
    return (await anyone.get<CommentView[]>(`/community/comment/${targets.article}`)).body[0]?.like;
  }

  for (const target of ['article', 'comment'] as const) {
    const CODE = target === 'article' ? 'ARTICLE_NOT_FOUND' : 'COMMENT_NOT_FOUND';

    it(`count for a ${target}; the answer holds exactly status and the new count`, async () => {
      const id = targets[target];
      const expectCount = async (asked: Promise<Reply>, data: number) => {
        expect((await asked).body).to.deep.equal({ status: 200, data });
        expect(await likes(target)).to.equal(data);
      };
      await expectCount(author.post('/community/heart', { target, id }), 1);
      await expectCount(other.post('/community/heart', { target, id }), 2);
      await expectCount(author.delete(`/community/heart/${target}/${id}`), 1);
      await expectCount(author.post('/community/heart', { target, id }), 2);
    });

    it(`are refused with 409 when given twice for a ${target}, and change nothing`, async () => {
      const id = targets[target];
      await author.post('/community/heart', { target, id });
      const again = author.post('/community/heart', { target, id });
      await expectError(again, 409, 'ALREADY_HEARTED', 'this member has given that heart already');
      expect(await likes(target)).to.equal(1);
    });

    it(`cannot be taken back from a ${target} before they are given`, async () => {
      const id = targets[target];
      await other.post('/community/heart', { target, id });
      const taken = author.delete(`/community/heart/${target}/${id}`);
      await expectError(taken, 404, 'HEART_NOT_FOUND', 'there is no such heart');
      expect(await likes(target)).to.equal(1);
    });

    it(`for a ${target} that does not exist are 404`, async () => {
      await expectError(author.post('/community/heart', { target, id: 999_999_999 }), 404, CODE);
      await expectError(author.delete(`/community/heart/${target}/999999999`), 404, CODE);
    });
  }

  it('of an article and a comment with the same number are different hearts', async () => {
    await author.post('/community/heart', { target: 'article', id: targets.article });
    expect(await likes('article')).to.equal(1);
    expect(await likes('comment')).to.equal(0);
  });

  it('accept the number as text of digits, as the app sends it', async () => {
    const given = await other.post<{ data: number }>('/community/heart', {
      target: 'article',
      id: String(targets.article),
    });
    expect(given.body).to.deep.equal({ status: 200, data: await likes('article') });
    const again = await other.post('/community/heart', { target: 'article', id: targets.article });
    expect(again.status).to.equal(409);
  });

  it('of a deleted comment are 404', async () => {
    await other.post('/community/heart', { target: 'comment', id: targets.comment });
    await author.delete(`/community/comment/${targets.comment}`);
    const given = await author.post('/community/heart', { target: 'comment', id: targets.comment });
    const taken = await other.delete(`/community/heart/comment/${targets.comment}`);
    expect([given.status, taken.status]).to.deep.equal([404, 404]);
  });

  const refused: [string, object, string][] = [
    ['no target', { target: undefined }, 'target'],
    ['another target', { target: 'member' }, 'target'],
    ['an operator', { target: { $in: ['article'] } }, 'target'],
    ['no number', { id: undefined }, 'id'],
    ['a number in words', { id: 'one' }, 'id'],
    ['zero', { id: 0 }, 'id'],
  ];
  for (const [what, over, field] of refused) {
    it(`refuse ${what}, naming ${field}`, async () => {
      const given = author.post('/community/heart', { target: 'article', id: 1, ...over });
      await expectError(given, 400, 'INVALID_INPUT', new RegExp(`^${field}: `));
    });
  }

  it('refuse the same in the path', async () => {
    const ofMember = author.delete('/community/heart/member/1');
    await expectError(ofMember, 400, 'INVALID_INPUT', 'target: must be article or comment');
    const zero = author.delete('/community/heart/article/0');
    await expectError(zero, 400, 'INVALID_INPUT', 'id: must be a positive whole number');
  });

  it('need a token', async () => {
    const given = await anyone.post('/community/heart', { target: 'article', id: targets.article });
    const taken = await anyone.delete(`/community/heart/article/${targets.article}`);
    expect([given.status, taken.status]).to.deep.equal([401, 401]);
  });
});
