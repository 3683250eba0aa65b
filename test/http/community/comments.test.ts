import { expect } from 'chai';
import type { ArticleDetail, CommentView } from '../../../domain/community/index.js';
import { anyone, expectError, type Member, member } from '../../support/api.js';
import { DRAFT } from '../../support/community.js';
import { service } from '../../support/service.js';

const DONE = { status: 200 };
const NOT_FOUND = [404, 'COMMENT_NOT_FOUND', 'there is no such comment'] as const;

describe('comments over REST', () => {
  let author: Member;
  let other: Member;
  let admin: Member;
  let boardId: number;

  before(async () => {
    author = await member({ nickname: 'Author', profile: '/a.png' });
    other = await member({ nickname: 'Other', profile: '/o.png' });
    admin = await member({ nickname: 'Admin', role: 'ADMIN' });
  });

  beforeEach(async () => {
    boardId = await newArticle();
  });

  async function newArticle(): Promise<number> {
    const { domain } = await service();
    return domain.community.createArticle(author.actor, DRAFT);
  }

  const shown = async (reader = anyone) =>
    (await reader.get<CommentView[]>(`/community/comment/${boardId}`)).body;

  /** Writes a comment or reply over REST. @returns its number */
  async function comment(context: string, parentId?: number, by = other): Promise<number> {
    const { body } = await by.post('/community/comment', { boardId, parentId, context });
    expect(body).to.deep.equal(DONE);
    const views = await shown();
    const written = views.flatMap((view) => [view, ...view.comments]);
    return Math.max(...written.map(({ id }) => id));
  }

  async function count(): Promise<number> {
    return (await anyone.get<ArticleDetail>(`/community/article/${boardId}`)).body.header.comment;
  }

  it('are listed oldest first with exactly the documented fields', async () => {
    expect(await shown()).to.deep.equal([]);
    const first = await comment('First');
    const second = await comment('Second', undefined, author);
    const reply = await comment('Reply', first, author);
    const views = await shown(author);
    const common = { like: 0, deleteStatus: 0, blindStatus: 0 };
    expect(views).to.deep.equal([
      {
        ...common,
        type: 0,
        mine: false,
        id: first,
        author: 'Other',
        authorId: other.no,
        context: 'First',
        profile: '/o.png',
        publishedAt: views[0]?.publishedAt,
        comments: [
          {
            ...common,
            type: 1,
            mine: true,
            id: reply,
            author: 'Author',
            authorId: author.no,
            context: 'Reply',
            profile: '/a.png',
            publishedAt: views[0]?.comments[0]?.publishedAt,
          },
        ],
      },
      {
        ...common,
        type: 0,
        mine: true,
        id: second,
        author: 'Author',
        authorId: author.no,
        context: 'Second',
        profile: '/a.png',
        publishedAt: views[1]?.publishedAt,
        comments: [],
      },
    ]);
    for (const { publishedAt } of views) expect(publishedAt).to.match(/^\d{4}-.*T.*\.\d{6}$/);
    expect(await count()).to.equal(3);
  });

  it('treat parentId null, 0 or absent as a comment on the article', async () => {
    for (const parentId of [null, 0, undefined]) {
      const { body } = await other.post('/community/comment', { boardId, parentId, context: 'Top' });
      expect(body).to.deep.equal(DONE);
    }
    expect((await shown()).map(({ type }) => type)).to.deep.equal([0, 0, 0]);
  });

  it('accept numbers as text of digits, as the app sends them', async () => {
    const written = await other.post('/community/comment', { boardId: String(boardId), context: 'First' });
    expect(written.body).to.deep.equal(DONE);
    const first = (await shown())[0]?.id as number;
    await other.post('/community/comment', {
      boardId: `${boardId}`,
      parentId: `${first}`,
      context: 'Reply',
    });
    await other.post('/community/comment', { boardId: `${boardId}`, parentId: '0', context: 'Second' });
    await other.patch('/community/comment', { id: `${first}`, context: 'Edited' });
    expect(
      (await shown()).map(({ context, comments }) => [context, comments.map((reply) => reply.context)]),
    ).to.deep.equal([
      ['Edited', ['Reply']],
      ['Second', []],
    ]);
  });

  it('42: refuse a parent that is a reply, of another article, or unknown', async () => {
    const first = await comment('First');
    const reply = await comment('Reply', first);
    const answer = (parentId: number, article = boardId) =>
      other.post('/community/comment', { boardId: article, parentId, context: 'x' });
    const [noReply, foreign] = [
      'must be a comment; a reply takes no replies',
      'must be a comment of the same article',
    ];
    await expectError(answer(reply), 400, 'INVALID_INPUT', `parentId: ${noReply}`);
    await expectError(answer(first, await newArticle()), 400, 'INVALID_INPUT', `parentId: ${foreign}`);
    const unknown = 'parentId: there is no comment 999999999';
    await expectError(answer(999_999_999), 404, 'COMMENT_NOT_FOUND', unknown);
    await other.delete(`/community/comment/${first}`);
    expect((await answer(first)).status).to.equal(404);
    expect(await count()).to.equal(1);
  });

  const refused: [string, object, string][] = [
    ['no article', { boardId: undefined }, 'boardId'],
    ['an article in words', { boardId: 'one' }, 'boardId'],
    ['an operator for an article', { boardId: { $gt: 0 } }, 'boardId'],
    ['a negative parent', { parentId: -1 }, 'parentId'],
    ['no text', { context: undefined }, 'context'],
    ['a blank text', { context: ' \n ' }, 'context'],
    ['a text of 2,001 characters', { context: 'x'.repeat(2_001) }, 'context'],
  ];
  for (const [what, over, field] of refused) {
    it(`refuse ${what}, naming ${field}`, async () => {
      const written = other.post('/community/comment', { boardId, context: 'x', ...over });
      await expectError(written, 400, 'INVALID_INPUT', new RegExp(`^${field}: `));
    });
  }

  it('are 404 for an unknown article, 400 for nonsense', async () => {
    const listed = anyone.get('/community/comment/999999999');
    await expectError(listed, 404, 'ARTICLE_NOT_FOUND', 'there is no such article');
    const written = other.post('/community/comment', { boardId: 999_999_999, context: 'x' });
    await expectError(written, 404, 'ARTICLE_NOT_FOUND', 'there is no such article');
    expect((await anyone.get('/community/comment/x')).status).to.equal(400);
  });

  it('need a token to write', async () => {
    const id = await comment('First');
    const statuses = await Promise.all([
      anyone.post('/community/comment', { boardId, context: 'x' }),
      anyone.patch('/community/comment', { id, context: 'x' }),
      anyone.delete(`/community/comment/${id}`),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([401, 401, 401]);
  });

  describe('PATCH /community/comment', () => {
    it('replaces the text', async () => {
      const id = await comment('First');
      expect((await other.patch('/community/comment', { id, context: 'Better' })).body).to.deep.equal(DONE);
      expect((await shown()).map(({ context }) => context)).to.deep.equal(['Better']);
    });

    it('is for the author and administrators', async () => {
      const id = await comment('First');
      const edited = author.patch('/community/comment', { id, context: 'x' });
      await expectError(edited, 403, 'FORBIDDEN', 'only its author may edit a comment');
      expect((await admin.patch('/community/comment', { id, context: 'x' })).body).to.deep.equal(DONE);
    });

    it('refuses a bad value and is 404 for an unknown or deleted comment', async () => {
      const id = await comment('First');
      await comment('Reply', id);
      expect((await other.patch('/community/comment', { id, context: '' })).status).to.equal(400);
      expect((await other.patch('/community/comment', { context: 'x' })).status).to.equal(400);
      await other.delete(`/community/comment/${id}`);
      for (const no of [id, 999_999_999]) {
        await expectError(other.patch('/community/comment', { id: no, context: 'x' }), ...NOT_FOUND);
      }
    });
  });

  describe('DELETE /community/comment/{comment_id}', () => {
    it('removes a comment without replies', async () => {
      const id = await comment('First');
      expect((await other.delete(`/community/comment/${id}`)).body).to.deep.equal(DONE);
      expect(await shown()).to.deep.equal([]);
      expect(await count()).to.equal(0);
      await expectError(other.delete(`/community/comment/${id}`), ...NOT_FOUND);
    });

    it('flags and blanks one with replies; it is removed with the last of them', async () => {
      const id = await comment('First');
      const replies = [await comment('One', id), await comment('Two', id)];
      await other.delete(`/community/comment/${id}`);
      const [flagged] = await shown();
      expect(flagged).to.include({ id, context: '', deleteStatus: 1, author: 'Other', like: 0 });
      expect(flagged?.comments.map((reply) => [reply.id, reply.deleteStatus])).to.deep.equal([
        [replies[0], 0],
        [replies[1], 0],
      ]);
      expect(await count()).to.equal(2);
      await other.delete(`/community/comment/${replies[0]}`);
      expect((await shown()).map((view) => view.comments.length)).to.deep.equal([1]);
      await other.delete(`/community/comment/${replies[1]}`);
      expect(await shown()).to.deep.equal([]);
      expect(await count()).to.equal(0);
    });

    it('keeps a live comment when its reply is deleted', async () => {
      const id = await comment('First');
      const reply = await comment('Reply', id);
      await other.delete(`/community/comment/${reply}`);
      expect((await shown()).map((view) => [view.id, view.comments.length])).to.deep.equal([[id, 0]]);
    });

    it('is for the author and administrators', async () => {
      const id = await comment('First');
      const deleted = author.delete(`/community/comment/${id}`);
      await expectError(deleted, 403, 'FORBIDDEN', 'only its author may delete a comment');
      expect((await admin.delete(`/community/comment/${id}`)).body).to.deep.equal(DONE);
    });

    it('refuses a malformed number', async () => {
      const deleted = other.delete('/community/comment/0');
      await expectError(deleted, 400, 'INVALID_INPUT', 'id: must be a positive whole number');
    });
  });
});
