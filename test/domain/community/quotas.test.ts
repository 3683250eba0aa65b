import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Comment } from '../../../domain/community/comment.model.js';
import { createQuotas } from '../../../domain/platform/rate-limits/index.js';
import { type Board, buildBoard, outcome } from '../../support/community.js';
import { meanwhile } from '../../support/database-calls.js';

describe('the quotas of articles and comments', () => {
  let board: Board;
  beforeEach(async () => {
    board = await buildBoard(
      Date.now(),
      createQuotas({
        RATE_LIMIT: 'on',
        ...{ ROOMS_PER_DAY: 1, MESSAGES_PER_DAY: 1, ARTICLES_PER_DAY: 1, COMMENTS_PER_DAY: 1 },
      }),
    );
  });

  const failing = () => {
    throw new Error('the database fails');
  };

  it('do not count what could not be stored', async () => {
    const author = await board.member('Author');
    const failed = meanwhile('before', [Article, 'insertOne'], failing, () => board.article(author));
    expect(await failed.catch((error) => error.message)).to.equal('the database fails');
    const { no } = await board.article(author);
    expect(await outcome(board.article(author))).to.equal('QUOTA_EXCEEDED');
    const unstored = meanwhile('before', [Comment as never, 'insertOne'], failing, () =>
      board.comment(author, no),
    );
    expect(await unstored.catch((error) => error.message)).to.equal('the database fails');
    await board.comment(author, no);
    expect(await outcome(board.comment(author, no))).to.equal('QUOTA_EXCEEDED');
  });

  it('do not count a comment that went with its article', async () => {
    const [author, guest] = [await board.member('Author'), await board.member('Guest')];
    const [{ no }, { no: other }] = [await board.article(author), await board.article()];
    const late = meanwhile(
      'before',
      [Comment as never, 'insertOne'],
      () => board.community.deleteArticle(author, no),
      () => board.comment(guest, no),
    );
    expect(await outcome(late)).to.equal('ARTICLE_NOT_FOUND');
    await board.comment(guest, other);
  });
});
