import { expect } from 'chai';
import type { ArticleDetail, ArticleList } from '../../../domain/community/index.js';
import { call, expectError, type Member, member } from '../../support/api.js';

const DRAFT = { categoryId: 3, title: 'Title', context: 'Text' };

describe('POST /community/article with bad input', () => {
  let author: Member;

  before(async () => {
    author = await member();
  });

  const refused: [string, object, string][] = [
    ['a missing title', { title: undefined }, 'title'],
    ['a blank title', { title: '  ' }, 'title'],
    ['a title of 201 characters', { title: 'x'.repeat(201) }, 'title'],
    ['a title that is a number', { title: 5 }, 'title'],
    ['a title that is an operator', { title: { $ne: null } }, 'title'],
    ['a missing text', { context: undefined }, 'context'],
    ['a text of 20,001 characters', { context: 'x'.repeat(20_001) }, 'context'],
    ['a lone surrogate', { context: 'a\ud800b' }, 'context'],
    ['a missing category', { categoryId: undefined }, 'categoryId'],
    ['a category in words', { categoryId: 'three' }, 'categoryId'],
    ['half a category in text', { categoryId: '0.5' }, 'categoryId'],
    ['a category past 2^31 in text', { categoryId: '2147483648' }, 'categoryId'],
    ['a negative category', { categoryId: -1 }, 'categoryId'],
    ['a category past 2^31', { categoryId: 2 ** 31 }, 'categoryId'],
    ['half a category', { categoryId: 0.5 }, 'categoryId'],
    ['21 images', { imageList: Array(21).fill({ id: 1, url: '/a' }) }, 'imageList'],
    ['an image without address', { imageList: [{ id: 1 }] }, 'imageList[0].url'],
    ['an image number past 2^53', { imageList: [{ id: 2 ** 53 + 2, url: '/a' }] }, 'imageList[0].id'],
    ['images that are no list', { imageList: { id: 1, url: '/a' } }, 'imageList'],
    ['a thumbnail that is a list', { thumbnail: ['/a'] }, 'thumbnail'],
  ];
  for (const [what, over, field] of refused) {
    it(`refuses ${what}, naming ${field}`, async () => {
      const written = author.post('/community/article', { ...DRAFT, ...over });
      const fault = new RegExp(`^${field.replace(/[[\]]/g, '\\$&')}: `);
      await expectError(written, 400, 'INVALID_INPUT', fault);
    });
  }

  it('accepts numbers as text of digits, as the app sends them', async () => {
    const categoryId = 1_000_000 + (Date.now() % 1_000_000_000);
    const imageList = [{ id: '12', url: '/images/12.png' }];
    const written = await author.post('/community/article', {
      ...DRAFT,
      categoryId: `${categoryId}`,
      imageList,
    });
    expect(written.body).to.deep.equal({ status: 200 });
    const { body } = await author.get<ArticleList>(`/community/list/recent?categoryId=${categoryId}`);
    const read = await author.get<ArticleDetail>(`/community/article/${body.list[0]?.id}`);
    expect(read.body.context.imageList).to.deep.equal([{ imageNo: 12, imageUrl: '/images/12.png' }]);
  });

  it('names the missing fields', async () => {
    const { body } = await author.post<{ errors: string[] }>('/community/article', { imageList: [{}] });
    expect(body.errors).to.deep.equal([
      'categoryId: is missing',
      'title: is missing',
      'context: is missing',
      'imageList[0].id: is missing',
      'imageList[0].url: is missing',
    ]);
  });

  for (const raw of [
    '[]',
    'null',
    '5',
    '"x"',
    '{',
    '{"title":NaN}',
    `${'['.repeat(3_000)}${']'.repeat(3_000)}`,
  ]) {
    it(`refuses the body ${raw.slice(0, 20)}`, async () => {
      const { status } = await call('/community/article', {
        method: 'POST',
        raw,
        headers: { Authorization: author.token, 'Content-Type': 'application/json' },
      });
      expect(status).to.equal(400);
    });
  }
});
