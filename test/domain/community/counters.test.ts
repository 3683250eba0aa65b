import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { createCounters } from '../../../domain/community/counters.js';
import { Heart } from '../../../domain/community/heart.model.js';
import { type Board, buildBoard } from '../../support/community.js';

interface Counted {
  countDocuments(filter: object): Promise<number>;
}

/** Lets something happen once between a count and the storing of its result. */
async function betweenCountAndStore(
  model: unknown,
  event: () => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  const counted = model as Counted;
  const original = counted.countDocuments;
  counted.countDocuments = async (filter) => {
    counted.countDocuments = original;
    const stale = await original.call(model, filter);
    await event();
    return stale;
  };
  try {
    await work();
  } finally {
    counted.countDocuments = original;
  }
}

describe('a count that became stale before it was stored', () => {
  /** Another process, with recounts of its own. */
  let elsewhere: Board;
  const counters = createCounters();

  beforeEach(async () => {
    elsewhere = await buildBoard();
  });

  it('of an article’s hearts is made again', async () => {
    const { no } = await elsewhere.article();
    const giver = await elsewhere.member('Giver');
    await betweenCountAndStore(
      Heart,
      () => elsewhere.community.giveHeart(giver, 'article', no),
      () => counters.articleHearts(no),
    );
    expect((await Article.findById(no).lean())?.hearts).to.equal(1);
  });

  it('of an article’s comments is made again', async () => {
    const { no, author } = await elsewhere.article();
    const draft = { articleId: no, parentId: 0, context: 'Hi' };
    await betweenCountAndStore(
      Comment,
      () => elsewhere.community.createComment(author, draft),
      () => counters.articleComments(no),
    );
    expect((await Article.findById(no).lean())?.comments).to.equal(1);
  });

  it('of a comment’s hearts is made again', async () => {
    const { no, author } = await elsewhere.article();
    const id = await elsewhere.community.createComment(author, { articleId: no, parentId: 0, context: 'Hi' });
    await betweenCountAndStore(
      Heart,
      () => elsewhere.community.giveHeart(author, 'comment', id),
      () => counters.commentHearts(id),
    );
    expect((await Comment.findById(id).lean())?.hearts).to.equal(1);
  });

  it('of a deleted comment’s replies is made again', async () => {
    const { no, author } = await elsewhere.article();
    const parentId = await elsewhere.community.createComment(author, {
      articleId: no,
      parentId: 0,
      context: 'Hi',
    });
    const replyId = await elsewhere.community.createComment(author, {
      articleId: no,
      parentId,
      context: 'Re',
    });
    await elsewhere.community.deleteComment(author, parentId);
    await betweenCountAndStore(
      Comment,
      () => elsewhere.community.deleteComment(author, replyId),
      () => counters.repliesOfDeleted(parentId),
    );
    expect((await Comment.findById(parentId).lean())?.state).to.equal('gone');
  });

  it('cannot be stored even if the count is the same: its version was raised', async () => {
    const { no } = await elsewhere.article();
    const heartsVersion = (await Article.findById(no).lean())?.heartsVersion ?? 0;
    expect(await counters.articleHearts(no)).to.equal(0);
    expect(await Article.findById(no).lean()).to.include({ hearts: 0, heartsVersion: heartsVersion + 1 });
  });

  it('of hearts is not stored at all when the article or comment was deleted', async () => {
    const { no, author } = await elsewhere.article();
    const id = await elsewhere.community.createComment(author, { articleId: no, parentId: 0, context: 'Hi' });
    await elsewhere.community.giveHeart(author, 'comment', id);
    await elsewhere.community.giveHeart(author, 'article', no);
    await betweenCountAndStore(
      Heart,
      () => elsewhere.community.deleteArticle(author, no),
      async () => expect(await counters.commentHearts(id)).to.equal(undefined),
    );
    expect(await counters.articleHearts(no)).to.equal(undefined);
    expect((await Comment.findById(id).lean())?.hearts).to.equal(0);
    expect((await Article.findById(no).lean())?.hearts).to.equal(0);
  });
});
