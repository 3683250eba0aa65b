import { expect } from 'chai';
import type { ArticleList } from '../../../domain/community/index.js';
import { anyone, call, expectError, type Member, member } from '../../support/api.js';
import { service } from '../../support/service.js';

describe('GET /community/list/{recent|like}', () => {
  let writer: Member;
  /** Unique to this run, so that the lists hold no articles of other tests. */
  let categoryId: number;
  let numbers: number[];
  const nickname = `Nick(${Date.now()})`;

  before(async () => {
    const { community } = (await service()).domain;
    writer = await member({ nickname, profile: '/p.png' });
    categoryId = 1_000_000 + (Date.now() % 1_000_000_000);
    numbers = [];
    for (let i = 0; i < 23; i++) {
      numbers.push(
        await community.createArticle(writer.actor, {
          categoryId,
          title: `Title ${i} ${i === 4 ? 'a.c (x) $where 고양이' : 'abc'}`,
          context: i === 5 ? 'Über den WOLKEN [0-9]+' : 'Text',
          imageList: [],
          thumbnail: i === 22 ? '/t.png' : '',
        }),
      );
    }
  });

  async function list(order: string, query: Record<string, string | number> = {}): Promise<ArticleList> {
    const parameters = new URLSearchParams({ categoryId: String(categoryId) });
    for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
    const { status, body } = await anyone.get<ArticleList>(`/community/list/${order}?${parameters}`);
    expect(status).to.equal(200);
    return body;
  }

  const positions = ({ list: shown }: ArticleList) => shown.map(({ id }) => numbers.indexOf(id));

  it('holds exactly hot, weekly and list, each summary exactly the documented fields', async () => {
    const body = await list('recent', { size: 1 });
    expect(Object.keys(body)).to.deep.equal(['hot', 'weekly', 'list']);
    const [summary] = body.list;
    expect(summary).to.deep.equal({
      id: numbers[22],
      title: 'Title 22 abc',
      context: 'Text',
      author: nickname,
      view: 0,
      comment: 0,
      like: 0,
      publishedAt: summary?.publishedAt,
      thumbnail: '/t.png',
    });
    expect(summary?.publishedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
    expect(Object.keys(body.hot ?? {})).to.deep.equal(Object.keys(summary ?? {}));
    expect(Object.keys(body.weekly ?? {})).to.deep.equal(Object.keys(summary ?? {}));
  });

  it('returns the newest ten of all without a query', async () => {
    const { body } = await anyone.get<ArticleList>('/community/list/recent');
    expect(body.list).to.have.length(10);
    const ids = body.list.map(({ id }) => id);
    expect(ids).to.deep.equal([...ids].sort((a, b) => b - a));
  });

  it('pages from 1, ten a page, newest first', async () => {
    expect(positions(await list('recent'))).to.deep.equal([22, 21, 20, 19, 18, 17, 16, 15, 14, 13]);
    expect(positions(await list('recent', { page: 3 }))).to.deep.equal([2, 1, 0]);
    expect(positions(await list('recent', { page: 4 }))).to.deep.equal([]);
    expect(positions(await list('recent', { page: 2, size: 4 }))).to.deep.equal([18, 17, 16, 15]);
    expect(positions(await list('recent', { size: 50 }))).to.have.length(23);
  });

  it('sorts by likes: most hearts, then views, then newest', async () => {
    const { domain } = await service();
    const { community } = domain;
    for (const [position, hearts] of [
      [3, 2],
      [9, 1],
    ] as const) {
      for (let i = 0; i < hearts; i++) {
        const giver = await domain.members.record({
          email: `g${i}-${numbers[position]}@example.org`,
          issuedAt: 0,
        });
        await community.giveHeart(giver, 'article', numbers[position] as number);
      }
    }
    await community.readArticle(undefined, numbers[7] as number);
    const body = await list('like', { size: 4 });
    expect(positions(body)).to.deep.equal([3, 9, 7, 22]);
    expect(body.list.map(({ like, view }) => [like, view])).to.deep.equal([
      [2, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
  });

  it('36: searches title, text and author, literally and in any case', async () => {
    const found: [string, string, number[]][] = [
      ['a.c', 'title', [4]],
      ['A.C (X)', 'title', [4]],
      ['$WHERE', 'title', [4]],
      ['고양이', 'title', [4]],
      ['.*', 'title', []],
      ['a\0c', 'title', []],
      ['[0-9]+', 'context', [5]],
      ['über DEN', 'context', [5]],
      ['wolken', 'title', []],
    ];
    for (const [keyword, option, expected] of found) {
      expect(positions(await list('recent', { keyword, option })), keyword).to.deep.equal(expected);
    }
    expect(positions(await list('recent', { keyword: nickname.toUpperCase(), option: 'author', size: 50 })))
      .to //
      .have.length(23);
    expect(positions(await list('recent', { keyword: 'nobody.*', option: 'author' }))).to.deep.equal([]);
    for (const option of ['title', 'context', '3', 'author'])
      expect(positions(await list('recent', { option, size: 50 })), `${option} alone`).to.have.length(23);
    expect(positions(await list('like', { keyword: nickname, option: 'author', size: 1 }))).to.deep.equal([
      3,
    ]);
  });

  it('searches titles, texts and authors in any form of Unicode, and changes none', async () => {
    const [composed, decomposed] = ['각시 느티나무'.normalize('NFC'), '각시 느티나무'.normalize('NFD')];
    const own = 2_000_000_000 + (categoryId % 100_000_000);
    const writers = [await member({ nickname: composed }), await member({ nickname: decomposed })];
    for (const [i, text] of [composed, decomposed].entries())
      await writers[i]?.post('/community/article', { categoryId: own, title: text, context: text });
    const titles = async (keyword: string, option: string) => {
      const query = { keyword, option, categoryId: own, size: 50 };
      return (await list('recent', query)).list.map(({ title }) => title);
    };
    for (const keyword of ['느티'.normalize('NFC'), '느티'.normalize('NFD')])
      for (const option of ['title', 'context', '3', 'author'])
        expect(await titles(keyword, option), `${keyword} ${option}`).to.deep.equal([decomposed, composed]);
    // 가 is no part of 각.
    for (const option of ['title', 'author']) expect(await titles('가', option)).to.deep.equal([]);
  });

  it('searches by the numbers that the app sends: 1 titles, 2 texts, 3 either', async () => {
    const found: [string, number, number[]][] = [
      ['a.c', 1, [4]],
      ['wolken', 1, []],
      ['wolken', 2, [5]],
      ['a.c', 2, []],
      ['wolken', 3, [5]],
      ['a.c', 3, [4]],
      ['[0-9]', 3, [5]],
      ['text', 3, [22, 21, 20, 19, 18, 17, 16, 15, 14, 13]],
    ];
    for (const [keyword, option, expected] of found) {
      expect(positions(await list('recent', { keyword, option })), `${option} ${keyword}`) //
        .to.deep.equal(expected);
    }
    expect(positions(await list('like', { keyword: 'wolken', option: 3 }))).to.deep.equal([5]);
    expect(positions(await list('recent', { keyword: 'text', option: 3, page: 3 }))).to.deep.equal([1, 0]);
  });

  it('does not filter for an empty search or option 0, and ignores unknown parameters', async () => {
    const everything = positions(await list('recent'));
    expect(positions(await list('recent', { keyword: '', option: '', page: '', _csrf: 'x', sort: 'y' }))) //
      .to.deep.equal(everything);
    const keyword = 'a.c (x)';
    expect(positions(await list('recent', { keyword }))).to.deep.equal(everything);
    for (const option of ['', 0]) {
      expect(positions(await list('recent', { keyword, option })), `option ${option}`).to.deep.equal(
        everything,
      );
    }
    expect(positions(await list('recent', { keyword: '', option: 1 }))).to.deep.equal(everything);
    expect(positions(await list('recent', { option: 0, page: 3 }))).to.deep.equal([2, 1, 0]);
  });

  const refused: [string, RegExp][] = [
    ['recent?page=0', /^page: /],
    ['recent?page=-1', /^page: /],
    ['recent?page=1.5', /^page: /],
    ['recent?page=1e2', /^page: /],
    ['recent?page=10001', /^page: /],
    ['recent?page=1&page=2', /^page: /],
    ['recent?size=0', /^size: /],
    ['recent?size=51', /^size: /],
    ['recent?categoryId=x', /^categoryId: /],
    ['recent?categoryId=2147483648', /^categoryId: /],
    ['recent?keyword=a&option=everything', /^option: /],
    ['recent?keyword=a&option=$where', /^option: /],
    ['recent?keyword=a&option=4', /^option: /],
    ['recent?keyword=a&option=01', /^option: /],
    ['recent?keyword=a&option=toString', /^option: /],
    [`recent?keyword=${'x'.repeat(101)}`, /^keyword: /],
    ['hot', /^order: /],
    ['__proto__', /^order: /],
  ];
  for (const [path, fault] of refused) {
    it(`refuses ${path.slice(0, 40)}`, async () => {
      await expectError(anyone.get(`/community/list/${path}`), 400, 'INVALID_INPUT', fault);
    });
  }

  it('36: never treats a query as an operator', async () => {
    const { status, body } = await anyone.get<ArticleList>(
      '/community/list/recent?keyword[$ne]=1&categoryId[$gt]=0&$where=1',
    );
    expect(status).to.equal(200);
    expect(body.list).to.have.length(10);
  });

  it('is 401 with a bad token', async () => {
    expect(
      (await call('/community/list/recent', { headers: { Authorization: 'Bearer nonsense' } })).status,
    ).to.equal(401);
  });
});
