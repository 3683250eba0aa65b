import { expect } from 'chai';
import type { ArticleList } from '../../../domain/community/index.js';
import { anyone, type Member, member } from '../../support/api.js';

describe('the thumbnail of an article', () => {
  let author: Member;
  let categoryId: number;

  before(async () => {
    author = await member();
    // Unique to this run, so that the list holds nothing else.
    categoryId = 1_000_000 + (Date.now() % 1_000_000_000);
  });

  async function newest() {
    const { body } = await anyone.get<ArticleList>(`/community/list/recent?size=1&categoryId=${categoryId}`);
    const [summary] = body.list;
    if (!summary) throw new Error('there is no article');
    return summary;
  }

  async function thumbnailOf(over: object): Promise<string> {
    const imageList = [1, 2].map((id) => ({ id, url: `/images/${id}.png` }));
    const draft = { categoryId, title: 'Title', context: 'Text', imageList, ...over };
    expect((await author.post('/community/article', draft)).body).to.deep.equal({ status: 200 });
    return (await newest()).thumbnail;
  }

  for (const thumbnail of [undefined, null, '']) {
    it(`is the first image if sent as ${JSON.stringify(thumbnail)}, and the text NONE without images`, async () => {
      expect(await thumbnailOf({ thumbnail })).to.equal('/images/1.png');
      expect(await thumbnailOf({ thumbnail, imageList: [] })).to.equal('NONE');
      expect(await thumbnailOf({ thumbnail, imageList: null })).to.equal('NONE');
    });
  }

  it('is the one that was sent, if any', async () => {
    expect(await thumbnailOf({ thumbnail: '/images/t.png' })).to.equal('/images/t.png');
    expect(await thumbnailOf({ thumbnail: '/images/t.png', imageList: [] })).to.equal('/images/t.png');
  });

  it('is chosen once: other images do not change it, and an edit may remove it', async () => {
    await thumbnailOf({});
    const { id } = await newest();
    const edit = (changes: object) => author.patch(`/community/article/${id}`, changes);
    await edit({ imageList: [{ id: 9, url: '/images/9.png' }] });
    expect((await newest()).thumbnail).to.equal('/images/1.png');
    await edit({ thumbnail: '' });
    expect((await newest()).thumbnail).to.equal('NONE');
  });
});
