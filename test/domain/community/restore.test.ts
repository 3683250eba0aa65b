import { expect } from 'chai';
import { nextNumbers } from '../../../domain/platform/sequence.model.js';
import { buildBoard } from '../../support/community.js';

describe('restored articles', () => {
  it('lead at once, also where the leaders were asked for just before', async () => {
    // Far from every other test's hearts, so that both windows are empty.
    const board = await buildBoard(Date.now() + 1_000 * 86_400_000);
    const author = await board.member('Author');
    const list = () => board.community.listArticles({ order: 'recent', option: 'title', page: 1, size: 1 });
    await list();
    const first = await nextNumbers('article', 2);
    const at = (hoursAgo: number) => new Date(board.clock.now() - hoursAgo * 3_600_000);
    const article = (id: number, hearts: number[], hoursAgo: number) => ({
      id,
      authorNo: author.no,
      categoryId: 1,
      title: `Article ${id}`,
      context: 'A text',
      imageList: [],
      thumbnail: '',
      views: 0,
      publishedAt: at(100),
      hearts: hearts.map((memberNo) => ({ memberNo, at: at(hoursAgo) })),
      comments: [],
    });
    await board.community.restoreArticles([article(first, [1, 2, 3], 90), article(first + 1, [1], 1)]);
    const { hot, weekly } = await list();
    expect([hot?.id, weekly?.id]).to.deep.equal([first + 1, first]);
    for (const id of [first, first + 1]) await board.community.deleteArticle(author, id);
  });
});
