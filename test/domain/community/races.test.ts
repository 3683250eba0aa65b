import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Bookmark } from '../../../domain/community/bookmark.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import { type Board, buildBoard, expectConsistent, outcome } from '../../support/community.js';
import { type DatabaseCall, interceptCalls, meanwhile } from '../../support/database-calls.js';

/** What happens on another process between two database calls of one use case. */
describe('in the middle of a call', () => {
  let here: Board;
  let elsewhere: Board;
  let author: Actor;
  let no: number;
  let commentId: number;

  beforeEach(async () => {
    [here, elsewhere] = [await buildBoard(), await buildBoard()];
    ({ no, author } = await here.article());
    commentId = await here.comment(author, no);
  });

  const articleGoes = () => elsewhere.community.deleteArticle(author, no);
  const commentGoes = () => elsewhere.community.deleteComment(author, commentId);

  /** The use case, the call before which its target goes, who deletes it, and what the caller is told. */
  const deletions: [string, [typeof Article, DatabaseCall], () => unknown, () => Promise<unknown>, string][] =
    [
      [
        'an article that is edited',
        [Article, 'updateOne'],
        articleGoes,
        () => here.community.editArticle(author, no, { title: 'Edited' }),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article that is deleted',
        [Article, 'updateOne'],
        articleGoes,
        () => here.community.deleteArticle(author, no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article that is bookmarked',
        [Bookmark as never, 'insertOne'],
        articleGoes,
        () => here.community.addBookmark(author, no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article that is commented on',
        [Comment as never, 'insertOne'],
        articleGoes,
        () => here.comment(author, no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article whose comments are counted',
        [Comment as never, 'countDocuments'],
        articleGoes,
        () => here.comment(author, no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article that is given a heart',
        [Heart as never, 'findOneAndUpdate'],
        articleGoes,
        () => here.community.giveHeart(author, 'article', no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'an article whose hearts are counted',
        [Heart as never, 'countDocuments'],
        articleGoes,
        () => here.community.giveHeart(author, 'article', no),
        'ARTICLE_NOT_FOUND',
      ],
      [
        'a comment that is edited',
        [Comment as never, 'updateOne'],
        commentGoes,
        () => here.community.editComment(author, commentId, 'Edited'),
        'COMMENT_NOT_FOUND',
      ],
      [
        'a comment that is deleted',
        [Comment as never, 'findOneAndUpdate'],
        commentGoes,
        () => here.community.deleteComment(author, commentId),
        'COMMENT_NOT_FOUND',
      ],
      [
        'a comment that is given a heart',
        [Heart as never, 'findOneAndUpdate'],
        commentGoes,
        () => here.community.giveHeart(author, 'comment', commentId),
        'COMMENT_NOT_FOUND',
      ],
      [
        'a comment whose hearts are counted',
        [Heart as never, 'countDocuments'],
        commentGoes,
        () => here.community.giveHeart(author, 'comment', commentId),
        'COMMENT_NOT_FOUND',
      ],
      [
        'the article of a comment that is given a heart',
        [Heart as never, 'findOneAndUpdate'],
        articleGoes,
        () => here.community.giveHeart(author, 'comment', commentId),
        'COMMENT_NOT_FOUND',
      ],
    ];
  for (const [what, call, goes, work, code] of deletions) {
    it(`42: ${what} goes: the caller is told, and nothing of the call stays`, async () => {
      expect(await meanwhile('before', call, goes, () => outcome(work()))).to.equal(code);
      await expectConsistent(no);
      expect((await Article.findById(no).lean())?.title).to.equal('A title');
      expect(await Comment.countDocuments({ articleId: no })).to.equal(1);
      expect(here.commentsAnnounced.filter((event) => event.commentId !== commentId)).to.deep.equal([]);
    });
  }

  it('a heart that is taken is taken by one of two', async () => {
    await here.community.giveHeart(author, 'article', no);
    let second: unknown;
    const first = await meanwhile(
      'after',
      [Heart, 'findOneAndUpdate'],
      async () => {
        second = await outcome(elsewhere.community.removeHeart(author, 'article', no));
      },
      () => outcome(here.community.removeHeart(author, 'article', no)),
    );
    expect([first, second]).to.deep.equal(['ok', 'HEART_NOT_FOUND']);
    await expectConsistent(no);
  });

  for (const target of ['article', 'comment'] as const) {
    it(`a heart is taken from ${target === 'article' ? 'an article' : 'a comment'} that goes`, async () => {
      const id = target === 'article' ? no : commentId;
      await here.community.giveHeart(author, target, id);
      const told = await meanwhile(
        'after',
        [Heart, 'findOneAndUpdate'],
        target === 'article' ? articleGoes : commentGoes,
        () => outcome(here.community.removeHeart(author, target, id)),
      );
      expect(told).to.equal(target === 'article' ? 'ARTICLE_NOT_FOUND' : 'COMMENT_NOT_FOUND');
      await expectConsistent(no);
    });

    it(`a heart of ${target === 'article' ? 'an article' : 'a comment'} is given again before the last taking is done`, async () => {
      const id = target === 'article' ? no : commentId;
      await here.community.giveHeart(author, target, id);
      await meanwhile(
        'before',
        [Heart, 'deleteOne'],
        () => elsewhere.community.giveHeart(author, target, id),
        () => here.community.removeHeart(author, target, id),
      );
      expect(await Heart.countDocuments({ target, id, memberNo: author.no, on: true })).to.equal(1);
      await expectConsistent(no);
    });
  }

  it('a heart is removed if its comment is deleted meanwhile', async () => {
    await meanwhile('after', [Heart, 'countDocuments'], commentGoes, () =>
      outcome(here.community.giveHeart(author, 'comment', commentId)),
    );
    await expectConsistent(no);
  });

  it('a comment deleted while it is answered stays flagged', async () => {
    const replyId = await meanwhile('before', [Comment, 'insertOne'], commentGoes, () =>
      here.comment(author, no, commentId),
    );
    const shown = await here.community.listComments(undefined, no);
    expect(shown.map(({ id, comments }) => [id, comments.map((reply) => reply.id)])).to.deep.equal([
      [commentId, [replyId]],
    ]);
    await expectConsistent(no);
  });

  it('a comment that the database refuses is not announced', async () => {
    const refuse = () => {
      throw new Error('the database refuses');
    };
    const told = await meanwhile('before', [Comment, 'insertOne'], refuse, () =>
      here.comment(author, no).catch((error: Error) => error),
    );
    expect(told).to.have.property('message', 'the database refuses');
    await expectConsistent(no);
    expect(here.commentsAnnounced.filter((event) => event.commentId !== commentId)).to.deep.equal([]);
  });

  it('a deletion keeps its mark if the answered comment cannot be read', async () => {
    const replyId = await here.comment(author, no, commentId);
    await commentGoes();
    const stop = interceptCalls([Comment], (_model, call, run, filter) =>
      call === 'findOne' && (filter as { _id?: number })._id === commentId
        ? Promise.reject(new Error('the database refuses'))
        : run(),
    );
    const told = await here.community.deleteComment(author, replyId).catch((error: Error) => error);
    stop();
    expect(told).to.have.property('message', 'the database refuses');
    await elsewhere.community.sweep();
    await expectConsistent(no);
  });

  it('a bookmark is removed with its article', async () => {
    await here.community.addBookmark(author, no);
    const told = await meanwhile('before', [Bookmark, 'deleteOne'], articleGoes, () =>
      outcome(here.community.removeBookmark(author, no)),
    );
    expect(told).to.equal('ARTICLE_NOT_FOUND');
  });

  /** When a process was killed that left its mark. */
  const since = new Date();

  it('the mark of a deletion survives the end of the creation', async () => {
    const writer = await here.member('Writer');
    let begun = 0;
    await meanwhile(
      'before',
      [Comment, 'updateOne'],
      async () => {
        const { _id } = (await Comment.findOne({ articleId: no, authorNo: writer.no }).lean()) ?? {};
        begun = _id ?? 0;
        const flagged = { state: 'flagged', context: '', pending: since } as const;
        await Comment.updateOne({ _id: begun }, { $set: flagged });
      },
      () => here.comment(writer, no),
    );
    expect((await Comment.findById(begun).lean())?.pending).to.deep.equal(since);
    await (await buildBoard()).community.sweep();
    await expectConsistent(no);
    expect((await Comment.findById(begun).lean())?.state).to.equal('gone');
  });

  it('the mark of a removal survives the end of the giving', async () => {
    const killed = () => {
      throw new Error('killed');
    };
    await meanwhile(
      'before',
      [Heart, 'updateOne'],
      () =>
        meanwhile('before', [Article, 'findOne'], killed, () =>
          elsewhere.community.removeHeart(author, 'article', no),
        ).catch((error: Error) => expect(error.message).to.equal('killed')),
      () => here.community.giveHeart(author, 'article', no),
    );
    expect((await Heart.findOne({ id: no, target: 'article' }).lean())?.pending).to.be.instanceOf(Date);
    await (await buildBoard()).community.sweep();
    await expectConsistent(no);
    expect(await Heart.countDocuments({ articleId: no })).to.equal(0);
  });
});
