import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import type { ArticleDetail, ArticleList } from '../../../domain/community/index.js';
import { anyone, call, expectError, type Member, member } from '../../support/api.js';
import { service } from '../../support/service.js';

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/;
const DONE = { status: 200 };
const NOT_FOUND = [404, 'ARTICLE_NOT_FOUND', 'there is no such article'] as const;
const DRAFT = {
  categoryId: 3,
  title: 'Three kittens look for a home',
  context: 'Found near the station.',
  imageList: [
    { id: 1, url: '/images/1.png' },
    { id: 2, url: 'https://images.example.org/2.png' },
  ],
  thumbnail: '/images/t.png',
};

describe('articles over REST', () => {
  let author: Member;
  let other: Member;
  let admin: Member;
  let titles = 0;

  before(async () => {
    author = await member({ nickname: 'Writer', profile: '/profiles/w.png' });
    other = await member({ nickname: 'Other' });
    admin = await member({ nickname: 'Admin', role: 'ADMIN' });
  });

  /** Writes an article over REST. @returns its number, found in the list by its title */
  async function write(over: object = {}): Promise<number> {
    const title = `Title ${process.pid}.${Date.now()}.${titles++}`;
    const { body } = await author.post('/community/article', { ...DRAFT, title, ...over });
    expect(body).to.deep.equal(DONE);
    const found = await anyone.get<ArticleList>(
      `/community/list/recent?option=title&keyword=${encodeURIComponent(title)}`,
    );
    return found.body.list[0]?.id as number;
  }

  describe('POST /community/article', () => {
    it('publishes, and answers exactly the status body', async () => {
      const answer = await author.post('/community/article', DRAFT);
      expect([answer.status, answer.body]).to.deep.equal([200, DONE]);
      expect(answer.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
    });

    it('accepts an article without images and thumbnail, and ignores unknown fields', async () => {
      const { categoryId, title, context } = DRAFT;
      const answers = await Promise.all([
        author.post('/community/article', { categoryId, title, context }),
        author.post('/community/article', {
          ...DRAFT,
          imageList: null,
          thumbnail: null,
          _csrf: 'x',
          views: 9,
        }),
      ]);
      for (const { body } of answers) expect(body).to.deep.equal(DONE);
    });

    it('keeps text byte for byte: NUL, emoji, markup, operators', async () => {
      const context = '\0 <script>alert(1)</script> {"$ne":null} 고양이 🐈‍⬛ ‮ \u2028';
      const no = await write({ context });
      const { body } = await anyone.get<ArticleDetail>(`/community/article/${no}`);
      expect(body.context.context).to.equal(context);
    });

    it('needs a token', async () => {
      const written = anyone.post('/community/article', DRAFT);
      await expectError(written, 401, 'UNAUTHORIZED', 'the Authorization header is missing');
    });
  });

  describe('GET /community/article/{article_id}', () => {
    it('shows exactly the documented fields and counts the view', async () => {
      const no = await write();
      const { body } = await author.get<ArticleDetail>(`/community/article/${no}`);
      expect(body.header.publishedAt).to.match(LOCAL_TIME);
      expect(body).to.deep.equal({
        id: no,
        mine: true,
        header: {
          title: body.header.title,
          authorId: author.no,
          username: 'Writer',
          profile: '/profiles/w.png',
          view: 1,
          like: 0,
          comment: 0,
          publishedAt: body.header.publishedAt,
        },
        context: {
          context: DRAFT.context,
          imageList: [
            { imageNo: 1, imageUrl: '/images/1.png' },
            { imageNo: 2, imageUrl: 'https://images.example.org/2.png' },
          ],
        },
      });
    });

    it('counts no view for a HEAD request', async () => {
      const no = await write();
      for (const headers of [undefined, { Authorization: other.token }]) {
        const answer = await call(`/community/article/${no}`, {
          method: 'HEAD',
          ...(headers && { headers }),
        });
        expect([answer.status, answer.text]).to.deep.equal([200, '']);
        expect(answer.headers.get('content-type')).to.equal('application/json;charset=UTF-8');
      }
      expect((await call('/community/article/999999999', { method: 'HEAD' })).status).to.equal(404);
      expect((await anyone.get<ArticleDetail>(`/community/article/${no}`)).body.header.view).to.equal(1);
    });

    it('is `mine` only for its author; anybody may read it', async () => {
      const no = await write();
      const readers = [anyone, other, admin, author];
      const mine: boolean[] = [];
      for (const reader of readers) {
        mine.push((await reader.get<ArticleDetail>(`/community/article/${no}`)).body.mine);
      }
      expect(mine).to.deep.equal([false, false, false, true]);
      const { body } = await anyone.get<ArticleDetail>(`/community/article/${no}`);
      expect(body.header.view).to.equal(5);
    });

    it('is 401 with a bad token', async () => {
      const no = await write();
      const { status } = await call(`/community/article/${no}`, { headers: { Authorization: 'nonsense' } });
      expect(status).to.equal(401);
    });

    it('is 404 for an unknown article', async () => {
      await expectError(anyone.get('/community/article/9007199254740991'), ...NOT_FOUND);
    });

    for (const bad of [
      '0',
      '-1',
      '1.5',
      '1e3',
      '01',
      'abc',
      '+1',
      '9007199254740993',
      '%00',
      '1%20',
      '$ne',
    ]) {
      it(`refuses the number ${bad}`, async () => {
        await expectError(anyone.get(`/community/article/${bad}`), 400, 'INVALID_INPUT', /^articleId: /);
      });
    }
  });

  describe('PATCH /community/article/{article_id}', () => {
    for (const [change, stored] of [
      [{ categoryId: 9 }, { categoryId: 9 }],
      [{ title: 'New title' }, { title: 'New title' }],
      [{ context: 'New text' }, { context: 'New text' }],
      [{ imageList: [{ id: 7, url: '/7.png' }] }, { images: [{ no: 7, url: '/7.png' }] }],
      [{ imageList: [] }, { images: [] }],
      [{ thumbnail: '/new.png' }, { thumbnail: '/new.png' }],
    ]) {
      it(`replaces the fields sent, and keeps the rest: ${JSON.stringify(change)}`, async () => {
        const no = await write();
        const before = await Article.findById(no).lean();
        expect((await author.patch(`/community/article/${no}`, change)).body).to.deep.equal(DONE);
        expect(await Article.findById(no).lean()).to.deep.equal({ ...before, ...stored });
      });
    }

    it('accepts the whole documented payload, and keeps the thumbnail unless it is sent', async () => {
      const no = await write();
      const { thumbnail: _, ...payload } = DRAFT;
      const title = `Edited ${no}`;
      const summary = async () =>
        (await anyone.get<ArticleList>(`/community/list/recent?option=title&keyword=Edited%20${no}`)).body
          .list[0];
      await author.patch(`/community/article/${no}`, {
        ...payload,
        title,
        categoryId: 4,
        imageList: [],
      });
      expect((await summary())?.thumbnail).to.equal('/images/t.png');
      await author.patch(`/community/article/${no}`, { thumbnail: '/images/new.png' });
      expect((await summary())?.thumbnail).to.equal('/images/new.png');
    });

    it('is for the author and administrators', async () => {
      const no = await write();
      const edited = other.patch(`/community/article/${no}`, { title: 'Mine now' });
      await expectError(edited, 403, 'FORBIDDEN', 'only its author may edit an article');
      expect((await admin.patch(`/community/article/${no}`, { title: 'Moderated' })).body).to.deep.equal(
        DONE,
      );
      const read = await anyone.get<ArticleDetail>(`/community/article/${no}`);
      expect([read.body.header.title, read.body.header.username]).to.deep.equal(['Moderated', 'Writer']);
    });

    it('refuses an empty change and a bad value', async () => {
      const no = await write();
      for (const change of [{}, { unknown: 1 }, { title: null }]) {
        const edited = author.patch(`/community/article/${no}`, change);
        const fields = 'categoryId, title, context, imageList and thumbnail';
        await expectError(edited, 400, 'INVALID_INPUT', `body: must hold at least one of ${fields}`);
      }
      expect((await author.patch(`/community/article/${no}`, { title: '' })).status).to.equal(400);
    });

    it('is 404 for an unknown article, 401 without a token', async () => {
      await expectError(author.patch('/community/article/999999999', { title: 'x' }), ...NOT_FOUND);
      expect((await anyone.patch('/community/article/1', { title: 'x' })).status).to.equal(401);
    });
  });

  describe('DELETE /community/article/{article_id}', () => {
    it('makes the article and everything below it 404', async () => {
      const no = await write();
      const { domain } = await service();
      const comment = { articleId: no, parentId: 0, context: 'Hi' };
      const commentId = await domain.community.createComment(author.actor, comment);
      await other.post(`/community/bookmark/${no}`);
      const { body } = await author.delete(`/community/article/${no}`);
      expect(body).to.deep.equal(DONE);
      const statuses = await Promise.all([
        author.get(`/community/article/${no}`),
        author.patch(`/community/article/${no}`, { title: 'x' }),
        author.delete(`/community/article/${no}`),
        author.get(`/community/comment/${no}`),
        author.post('/community/comment', { boardId: no, context: 'x' }),
        author.patch('/community/comment', { id: commentId, context: 'x' }),
        author.delete(`/community/comment/${commentId}`),
        author.post('/community/heart', { target: 'article', id: no }),
        author.post('/community/heart', { target: 'comment', id: commentId }),
        author.delete(`/community/heart/article/${no}`),
        author.post(`/community/bookmark/${no}`),
        other.delete(`/community/bookmark/${no}`),
      ]);
      expect(statuses.map(({ status }) => status)).to.deep.equal(Array(12).fill(404));
    });

    it('removes it from the list', async () => {
      const no = await write();
      const { title } = (await anyone.get<ArticleDetail>(`/community/article/${no}`)).body.header;
      await author.delete(`/community/article/${no}`);
      const { body } = await anyone.get<ArticleList>(
        `/community/list/recent?option=title&keyword=${encodeURIComponent(title)}`,
      );
      expect(body.list).to.deep.equal([]);
    });

    it('is for the author and administrators', async () => {
      const no = await write();
      const deleted = other.delete(`/community/article/${no}`);
      await expectError(deleted, 403, 'FORBIDDEN', 'only its author may delete an article');
      expect((await anyone.delete(`/community/article/${no}`)).status).to.equal(401);
      expect((await admin.delete(`/community/article/${no}`)).body).to.deep.equal(DONE);
    });
  });
});
