import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import type { RestoredArticle } from '../../../domain/community/index.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';
import { nextNumbers } from '../../../domain/platform/mongo/sequence.model.js';
import { buildBoard, COMMUNITY_MODELS, expectConsistent, outcome } from '../../support/community.js';
import { interceptCalls } from '../../support/database-calls.js';

describe('restored articles', () => {
  it('lead at once, even if the leaders were read just before', async () => {
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

  it('are stored once, with comments and hearts; existing records stay unchanged', async () => {
    const board = await buildBoard();
    const [author, giver] = [await board.member('Author'), await board.member('Giver')];
    const no = (await nextNumbers('article')) + 50;
    const commentNo = (await nextNumbers('comment')) + 50;
    const at = new Date(board.clock.now() - 3_600_000);
    const comment = { parentId: 0, authorNo: giver.no, context: 'Hi', publishedAt: at, hearts: [] };
    const article = {
      id: no,
      authorNo: author.no,
      categoryId: 4,
      title: 'Then',
      context: 'A text',
      imageList: [{ id: 3, url: '/3.png' }],
      thumbnail: '/t.png',
      views: 12,
      publishedAt: at,
      hearts: [
        { memberNo: author.no, at },
        { memberNo: giver.no, at },
      ],
      comments: [
        { ...comment, id: commentNo, hearts: [{ memberNo: author.no, at }] },
        { ...comment, id: commentNo + 1, parentId: commentNo },
      ],
    };
    await board.community.restoreArticles([article]);
    await expectConsistent(no);
    const versions = await Promise.all([
      Article.findById(no, { heartsVersion: 1, commentsVersion: 1 }).lean(),
      Comment.findById(commentNo, { heartsVersion: 1, repliesVersion: 1 }).lean(),
    ]);
    expect(versions).to.deep.equal([
      { _id: no, heartsVersion: 0, commentsVersion: 0 },
      { _id: commentNo, heartsVersion: 0, repliesVersion: 0 },
    ]);
    const detail = await board.community.readArticle(author, no, true);
    const publishedAt = createLocalDateTime('Asia/Seoul').text(at.getTime());
    expect(detail.header).to.deep.include({ title: 'Then', view: 12, like: 2, comment: 2, publishedAt });
    expect(detail.context.imageList).to.deep.equal([{ imageNo: 3, imageUrl: '/3.png' }]);
    const [shown] = await board.community.listComments(undefined, no);
    expect([shown?.id, shown?.like, shown?.publishedAt, shown?.comments.length]).to.deep.equal([
      commentNo,
      1,
      publishedAt,
      1,
    ]);
    expect(await outcome(board.community.giveHeart(giver, 'article', no))).to.equal('ALREADY_HEARTED');
    expect(board.commentsAnnounced).to.deep.equal([]);
    // Whoever writes now does not get a number of theirs.
    expect((await board.article(author)).no).to.be.above(no);
    expect(await board.comment(author, no)).to.be.above(commentNo + 1);

    await board.community.editArticle(author, no, { title: 'Now' });
    await board.community.editComment(giver, commentNo, 'Hello');
    await board.community.removeHeart(giver, 'article', no);
    await board.community.giveHeart(giver, 'article', no);
    const records = () =>
      Promise.all([
        Article.findById(no).lean(),
        Comment.find({ articleId: no }).lean(),
        Heart.find({ articleId: no }).lean(),
      ]);
    const before = await records();
    await board.community.restoreArticles([article]);
    expect(await records()).to.deep.equal(before);
  });

  it('show no count before its records are stored', async () => {
    const board = await buildBoard();
    const author = await board.member('Author');
    const first = await nextNumbers('article', 20);
    const firstComment = await nextNumbers('comment', 20);
    const at = new Date(board.clock.now());
    const article = (i: number): RestoredArticle => {
      const id = first + i;
      const by = { authorNo: author.no, context: 'A text', publishedAt: at };
      const hearts = [{ memberNo: author.no, at }];
      return {
        ...by,
        id,
        categoryId: 1,
        title: 'Then',
        imageList: [],
        thumbnail: '',
        views: 0,
        hearts,
        comments: [{ ...by, id: firstComment + i, parentId: 0, hearts }],
      };
    };
    for (let call = 0; call < 3; call += 1) {
      const restored = article(call);
      let made = 0;
      const stop = interceptCalls(COMMUNITY_MODELS, (_model, _call, run) => {
        made += 1;
        return made === call + 1 ? Promise.reject(new Error('refused')) : run();
      });
      const failed = await board.community.restoreArticles([restored]).catch((error: Error) => error.message);
      stop();
      expect(failed).to.equal('refused');
      expect(await Article.findById(restored.id).lean()).to.equal(null);
      // Done again, it is finished.
      await board.community.restoreArticles([restored]);
      await expectConsistent(restored.id);
    }
    await board.community.restoreArticles([]);
  });
});
