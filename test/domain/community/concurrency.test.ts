import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import { type Board, buildBoard, outcome } from '../../support/community.js';

function timesOf(outcomes: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const each of outcomes) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}

describe('at the same moment', () => {
  let boards: [Board, Board];

  beforeEach(async () => {
    // Two boards over one database do not share their recounts: two processes.
    boards = [await buildBoard(), await buildBoard()];
  });

  const boardOf = (i: number) => boards[i % 2] as Board;

  it('a hundred hearts from two processes make a count of a hundred', async () => {
    const { no } = await boards[0].article();
    const givers = await Promise.all(Array.from({ length: 100 }, (_, i) => boardOf(i).member(`G${i}`)));
    const counts = await Promise.all(
      givers.map((giver, i) => boardOf(i).community.giveHeart(giver, 'article', no)),
    );
    expect(Math.max(...counts)).to.equal(100);
    expect((await Article.findById(no).lean())?.hearts).to.equal(100);
    expect(await Heart.countDocuments({ id: no, pending: { $exists: true } })).to.equal(0);

    await Promise.all(
      givers.slice(0, 60).map((giver, i) => boardOf(i).community.removeHeart(giver, 'article', no)),
    );
    expect((await Article.findById(no).lean())?.hearts).to.equal(40);
    expect(await Heart.countDocuments({ target: 'article', id: no })).to.equal(40);
  });

  it('31: one member’s twenty equal hearts make one, and nineteen fail', async () => {
    const { no } = await boards[0].article();
    const giver = await boards[0].member('Giver');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => outcome(boardOf(i).community.giveHeart(giver, 'article', no))),
    );
    expect(timesOf(outcomes)).to.deep.equal({ ok: 1, ALREADY_HEARTED: 19 });
    expect((await Article.findById(no).lean())?.hearts).to.equal(1);
  });

  it('31: one member’s twenty equal bookmarks make one', async () => {
    const { no } = await boards[0].article();
    const reader = await boards[0].member('Reader');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => outcome(boardOf(i).community.addBookmark(reader, no))),
    );
    expect(timesOf(outcomes)).to.deep.equal({ ok: 1, ALREADY_BOOKMARKED: 19 });
  });

  it('31: fifty views make fifty', async () => {
    const { no } = await boards[0].article();
    await Promise.all(Array.from({ length: 50 }, (_, i) => boardOf(i).community.readArticle(undefined, no)));
    expect((await boards[0].community.readArticle(undefined, no)).header.view).to.equal(51);
  });

  it('comments and their deletion leave a count equal to the live ones', async () => {
    const { no, author } = await boards[0].article();
    const comment = (i: number) =>
      boardOf(i).community.createComment(author, { articleId: no, parentId: 0, context: `c${i}` });
    const first = await Promise.all(Array.from({ length: 20 }, (_, i) => comment(i)));
    await Promise.all([
      ...first.slice(0, 10).map((id, i) => boardOf(i).community.deleteComment(author, id)),
      ...Array.from({ length: 15 }, (_, i) => comment(i)),
    ]);
    expect(await Comment.countDocuments({ articleId: no, state: 'live' })).to.equal(25);
    expect((await Article.findById(no).lean())?.comments).to.equal(25);
  });

  it('hearts given and removed while lists are read leave the correct leaders', async () => {
    // A time of its own, where no other test's hearts are.
    const board = await buildBoard(Date.UTC(2200, 0, 1));
    const author = await board.member('Author');
    const numbers: number[] = [];
    for (let i = 0; i < 5; i++) numbers.push((await board.article(author)).no);
    const givers = await Promise.all(Array.from({ length: 12 }, (_, i) => board.member(`G${i}`)));
    const list = () => board.community.listArticles({ order: 'recent', page: 1, size: 1, option: 'title' });
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        givers.flatMap((giver, i) => {
          const no = numbers[(i * 7 + round * 3) % 5] as number;
          const other = numbers[(i + round) % 5] as number;
          return [
            outcome(board.community.giveHeart(giver, 'article', no)),
            outcome(board.community.removeHeart(giver, 'article', other)),
            board.community.readArticle(undefined, other),
            list(),
          ];
        }),
      );
      const expected = await Promise.all(
        numbers.map(async (no) => {
          const views = (await Article.findById(no).lean())?.views ?? 0;
          return { no, views, hearts: await Heart.countDocuments({ target: 'article', id: no, on: true }) };
        }),
      );
      expected.sort((a, b) => b.hearts - a.hearts || b.views - a.views || b.no - a.no);
      const { hot, weekly } = await list();
      expect([hot?.id, weekly?.id, hot?.like]).to.deep.equal([
        expected[0]?.no,
        expected[0]?.no,
        expected[0]?.hearts,
      ]);
    }
    for (const no of numbers) await board.community.deleteArticle(author, no);
  });
});
