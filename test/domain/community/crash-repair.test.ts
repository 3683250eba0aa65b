import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Bookmark } from '../../../domain/community/bookmark.model.js';
import { Comment, type CommentRecord } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import { nextNumbers } from '../../../domain/platform/mongo/sequence.model.js';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { type Board, buildBoard, expectConsistent } from '../../support/community.js';
import { counted } from '../../support/counted.js';
import { interceptCalls, meanwhile } from '../../support/database-calls.js';

/** Each test leaves the records as a process killed at that moment leaves them, and sweeps as the next one. */
describe('after a crash', () => {
  let board: Board;

  beforeEach(async () => {
    board = await buildBoard();
  });

  async function strandedComment(
    over: Pick<CommentRecord, 'articleId' | 'authorNo'> & Partial<CommentRecord>,
  ) {
    const now = new Date(board.clock.now());
    const _id = await nextNumbers('comment');
    const comment = {
      _id,
      parentId: 0,
      context: 'Hello',
      state: 'live',
      hearts: 0,
      publishedAt: now,
    } as const;
    await Comment.create({ ...comment, pending: now, ...over });
    return _id;
  }

  it('an uncounted heart is counted', async () => {
    const { no } = await board.article();
    const giver = await board.member('Giver');
    await board.community.giveHeart(giver, 'article', no);
    const late = await board.member('Late');
    const now = new Date(board.clock.now());
    await Heart.create({
      target: 'article',
      id: no,
      memberNo: late.no,
      articleId: no,
      on: true,
      at: now,
      turn: 1,
      pending: now,
    });
    expect((await Article.findById(no).lean())?.hearts).to.equal(1);
    const mended = () => counted(metrics.driftMended, { what: 'article-hearts' });
    const before = await mended();
    await board.community.sweep();
    expect(await mended()).to.equal(before + 1);
    expect((await Article.findById(no).lean())?.hearts).to.equal(2);
    expect(await Heart.countDocuments({ id: no, pending: { $exists: true } })).to.equal(0);
  });

  it('an uncounted removal of a heart is counted, and the record deleted', async () => {
    const { no, author } = await board.article();
    const commentId = await board.community.createComment(author, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    const giver = await board.member('Giver');
    await board.community.giveHeart(giver, 'comment', commentId);
    await Heart.updateOne(
      { target: 'comment', id: commentId },
      { $set: { on: false, pending: new Date(board.clock.now()) }, $inc: { turn: 1 } },
    );
    await board.community.sweep();
    expect((await Comment.findById(commentId).lean())?.hearts).to.equal(0);
    expect(await Heart.countDocuments({ target: 'comment', id: commentId })).to.equal(0);
  });

  it('an uncounted, unannounced comment is counted and announced once', async () => {
    const { no, author } = await board.article();
    const writer = await board.member('Writer');
    const commentId = await strandedComment({ articleId: no, authorNo: writer.no });
    await board.community.sweep();
    await board.community.sweep();
    expect((await Article.findById(no).lean())?.comments).to.equal(1);
    expect(board.commentsAnnounced.filter((event) => event.commentId === commentId)).to.deep.equal([
      {
        commentId,
        articleId: no,
        authorNo: writer.no,
        recipientNo: author.no,
        kind: 'comment',
        context: 'Hello',
      },
    ]);
  });

  it('a reply keeps its concurrently deleted comment visible', async () => {
    const { no, author } = await board.article();
    const parentId = await board.community.createComment(author, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    await board.community.deleteComment(author, parentId);
    const replyId = await strandedComment({ articleId: no, authorNo: author.no, parentId });
    await board.community.sweep();
    const [shown] = await board.community.listComments(undefined, no);
    expect(shown).to.include({ id: parentId, context: '', deleteStatus: 1 });
    expect(shown?.comments.map(({ id }) => id)).to.deep.equal([replyId]);
    expect((await Article.findById(no).lean())?.comments).to.equal(1);
  });

  it('a half-deleted comment is removed from the count, with its hearts', async () => {
    const { no, author } = await board.article();
    const commentId = await board.community.createComment(author, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    await board.community.giveHeart(author, 'comment', commentId);
    await Comment.updateOne(
      { _id: commentId },
      { $set: { state: 'flagged', context: '', pending: new Date(board.clock.now()) } },
    );
    await board.community.sweep();
    expect(await board.community.listComments(undefined, no)).to.deep.equal([]);
    expect((await Article.findById(no).lean())?.comments).to.equal(0);
    expect(await Heart.countDocuments({ target: 'comment', id: commentId })).to.equal(0);
  });

  it('a half-deleted article loses its hearts and bookmarks, and its comments’ hearts', async () => {
    const { no, author } = await board.article();
    const commentId = await board.community.createComment(author, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    await board.community.giveHeart(author, 'article', no);
    await board.community.giveHeart(author, 'comment', commentId);
    await board.community.addBookmark(author, no);
    await Article.updateOne(
      { _id: no },
      { $set: { state: 'deleted', pending: new Date(board.clock.now()) } },
    );
    await board.community.sweep();
    expect(await Heart.countDocuments({ articleId: no })).to.equal(0);
    expect(await Bookmark.countDocuments({ articleId: no })).to.equal(0);
    expect((await Comment.findById(commentId).lean())?.hearts).to.equal(0);
    const article = await Article.findById(no).lean();
    expect([article?.hearts, article?.pending]).to.deep.equal([0, undefined]);
  });

  it('a heart and a comment stored after their article’s deletion are removed', async () => {
    const { no, author } = await board.article();
    await board.community.deleteArticle(author, no);
    const now = new Date(board.clock.now());
    await Heart.create({
      target: 'article',
      id: no,
      memberNo: author.no,
      articleId: no,
      on: true,
      at: now,
      turn: 1,
      pending: now,
    });
    const commentId = await strandedComment({ articleId: no, authorNo: author.no });
    await board.community.sweep();
    expect(await Heart.countDocuments({ articleId: no })).to.equal(0);
    expect(await Comment.findById(commentId).lean()).to.equal(null);
  });

  it('later sweeps leave recent marks alone', async () => {
    await board.community.sweep();
    const { no } = await board.article();
    const writer = await board.member('Writer');
    const commentId = await strandedComment({ articleId: no, authorNo: writer.no });
    await board.community.sweep();
    expect((await Comment.findById(commentId).lean())?.pending).to.be.instanceOf(Date);
    board.clock.advance(4_999);
    await board.community.sweep();
    expect((await Comment.findById(commentId).lean())?.pending).to.be.instanceOf(Date);
    board.clock.advance(1);
    await board.community.sweep();
    expect((await Comment.findById(commentId).lean())?.pending).to.equal(undefined);
  });

  it('a mark by a clock that was ahead is finished, whatever its time', async () => {
    await board.community.sweep();
    const { no } = await board.article();
    const writer = await board.member('Writer');
    const pending = new Date(board.clock.now() + 40 * 60_000);
    const commentId = await strandedComment({ articleId: no, authorNo: writer.no, pending });
    await board.community.sweep();
    expect((await Comment.findById(commentId).lean())?.pending).to.equal(undefined);
    expect(board.commentsAnnounced.map((event) => event.commentId)).to.include(commentId);
  });

  it('failed announcements are repeated by the next sweep', async () => {
    const { no } = await board.article();
    const writer = await board.member('Writer');
    board.listenersFail = true;
    const commentId = await board.community.createComment(writer, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    expect(await board.community.giveHeart(writer, 'article', no)).to.equal(1);
    await board.community.giveHeart(writer, 'comment', commentId);
    expect(
      await Heart.distinct('target', { articleId: no, pending: { $exists: true } }),
      'a comment leads nothing: its heart needs no listener',
    ).to.deep.equal(['article']);
    expect(board.commentsAnnounced).to.deep.equal([]);
    board.listenersFail = false;
    await board.community.sweep();
    expect(board.commentsAnnounced.map((event) => event.commentId)).to.include(commentId);
    expect(await Heart.countDocuments({ id: no, pending: { $exists: true } })).to.equal(0);
    expect(await Comment.countDocuments({ _id: commentId, pending: { $exists: true } })).to.equal(0);
  });

  it('a sweep stops after the current record when told to, and the next one finishes the rest', async () => {
    const articles = await Promise.all([1, 2, 3].map(() => board.article()));
    const ids = articles.map(({ no }) => no);
    const pending = new Date(board.clock.now());
    await Article.updateMany({ _id: { $in: ids } }, { $set: { state: 'deleted', pending } });
    const left = () => Article.countDocuments({ _id: { $in: ids }, pending: { $exists: true } });
    const ending = new AbortController();
    await meanwhile(
      'before',
      [Article, 'updateOne'],
      () => ending.abort(),
      () => board.community.sweep(ending.signal),
    );
    expect(await left()).to.equal(2);
    await board.community.sweep();
    expect(await left()).to.equal(0);
  });

  it('a record that cannot be finished does not stop the others, and is tried again', async () => {
    const writer = await board.member('Writer');
    const articles = await Promise.all([1, 2, 3, 4].map(() => board.article()));
    const [bad, good, gone, left] = articles.map(({ no }) => no) as [number, number, number, number];
    const pending = new Date(board.clock.now());
    for (const no of [bad, good]) {
      await strandedComment({ articleId: no, authorNo: writer.no });
      const heart = { target: 'article' as const, id: no, articleId: no, memberNo: writer.no };
      await Heart.create({ ...heart, on: true, at: pending, turn: 1, pending });
    }
    await Article.updateMany({ _id: { $in: [gone, left] } }, { $set: { state: 'deleted', pending } });
    const stop = interceptCalls([Article], (_model, call, run, filter) => {
      const { _id } = filter as { _id?: number };
      const refused = (call === 'findOne' && _id === bad) || (call === 'updateOne' && _id === gone);
      return refused ? Promise.reject(new Error('the database refuses')) : run();
    });
    await board.community.sweep();
    stop();
    await expectConsistent(good);
    await expectConsistent(left);
    await board.community.sweep();
    expect(await Comment.countDocuments({ articleId: bad, pending: { $exists: true } })).to.equal(1);
    board.clock.advance(5_000);
    await board.community.sweep();
    for (const no of [bad, gone]) await expectConsistent(no);
  });
});
