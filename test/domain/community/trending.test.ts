import { expect } from 'chai';
import { Article } from '../../../domain/community/article.model.js';
import { Heart } from '../../../domain/community/heart.model.js';
import { listArticles } from '../../../domain/community/list-articles.js';
import type { Trending } from '../../../domain/community/trending.js';
import type { Actor } from '../../../domain/kernel/actor.js';
import { createLocalDateTime } from '../../../domain/kernel/local-date-time.js';
import { type Board, buildBoard } from '../../support/community.js';
import { interceptCalls, meanwhile } from '../../support/database-calls.js';
import { service } from '../../support/service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Long enough for hearts to be counted anew, however long the last count took. */
const MINUTE = 60_000;

/** Far from the hearts of every other test: each test here begins a month after the one before. */
let startsAt = Date.UTC(2100, 0, 1);

describe('hot and weekly', () => {
  let board: Board;
  let written: number[] = [];

  beforeEach(async () => {
    startsAt += 30 * DAY;
    board = await buildBoard(startsAt);
    written = [];
  });

  afterEach(async () => {
    for (const no of written) {
      const article = await Article.findOne({ _id: no, state: 'live' }).lean();
      const admin = { ...(await board.member('Admin')), role: 'ADMIN' as const };
      if (article) await board.community.deleteArticle(admin, no);
    }
  });

  async function write(): Promise<number> {
    const { no } = await board.article();
    written.push(no);
    return no;
  }

  async function giveHearts(no: number, count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await board.community.giveHeart(await board.member('Giver'), 'article', no);
    }
  }

  async function leading(): Promise<{ hot: number | undefined; weekly: number | undefined }> {
    const { hot, weekly } = await board.community.listArticles({
      order: 'recent',
      page: 1,
      size: 1,
      option: 'title',
    });
    return { hot: hot?.id, weekly: weekly?.id };
  }

  it('are the articles with most hearts in 24 hours and in 7 days', async () => {
    const [older, newer] = [await write(), await write()];
    await giveHearts(older, 3);
    board.clock.advance(2 * DAY);
    await giveHearts(newer, 2);
    expect(await leading()).to.deep.equal({ hot: newer, weekly: older });
    await giveHearts(newer, 2);
    expect(await leading()).to.deep.equal({ hot: newer, weekly: newer });
  });

  it('count a heart exactly as long as the window', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 2);
    board.clock.advance(HOUR);
    await giveHearts(second, 1);
    board.clock.advance(23 * HOUR - 1);
    expect(await leading()).to.deep.equal({ hot: first, weekly: first });
    board.clock.advance(MINUTE);
    expect(await leading()).to.deep.equal({ hot: second, weekly: first });
  });

  it('break ties by views, then by age, at once', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 1);
    await giveHearts(second, 1);
    expect((await leading()).hot).to.equal(second);
    await board.community.readArticle(undefined, first);
    expect((await leading()).hot).to.equal(first);
    await board.community.readArticle(undefined, second);
    expect((await leading()).hot).to.equal(second);
  });

  it('change at once with a removed heart or a deleted article', async () => {
    const [first, second] = [await write(), await write()];
    const giver = await board.member('Giver');
    await board.community.giveHeart(giver, 'article', first);
    await giveHearts(first, 1);
    await giveHearts(second, 1);
    expect((await leading()).hot).to.equal(first);
    await board.community.removeHeart(giver, 'article', first);
    expect((await leading()).hot).to.equal(second);
    const admin = { ...(await board.member('Admin')), role: 'ADMIN' as const };
    await board.community.deleteArticle(admin, second);
    expect(await leading()).to.deep.equal({ hot: first, weekly: first });
  });

  it('notice soon what another process changed', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 2);
    await giveHearts(second, 1);
    expect((await leading()).hot).to.equal(first);
    const elsewhere = await buildBoard(board.clock.now());
    for (let i = 0; i < 2; i++) {
      await elsewhere.community.giveHeart(await board.member('Giver'), 'article', second);
    }
    board.clock.advance(MINUTE);
    expect((await leading()).hot).to.equal(second);
    const admin = { ...(await board.member('Admin')), role: 'ADMIN' as const };
    await elsewhere.community.deleteArticle(admin, second);
    expect((await leading()).hot).to.equal(first);
  });

  it('are the best live article of all time if their window is empty', async () => {
    const [first, second] = [await write(), await write()];
    // More than any other article of the shared database has.
    await Article.updateMany({ _id: { $in: [first, second] } }, { $set: { hearts: 1_000_000, views: 7 } });
    expect(await leading()).to.deep.equal({ hot: second, weekly: second });
    await board.community.readArticle(undefined, first);
    expect(await leading()).to.deep.equal({ hot: first, weekly: first });
    const other = await write();
    await giveHearts(other, 1);
    board.clock.advance(3 * DAY);
    expect(await leading()).to.deep.equal({ hot: first, weekly: other });
  });

  it('are the best of all time for the empty window only', async () => {
    const [best, leader] = [await write(), await write()];
    await Article.updateOne({ _id: best }, { $set: { hearts: 1_000_000 } });
    const trending = { articleId: leader, authorNo: 1, title: 'A title' };
    const { members } = (await service()).domain;
    for (const window of ['hot', 'weekly'] as const) {
      const list = await listArticles(
        {
          directory: members.directory,
          trending: {
            current: async () => ({ hot: undefined, weekly: undefined, [window]: trending }),
          } as unknown as Trending,
          localTime: createLocalDateTime('UTC'),
          searches: (task) => task(),
        },
        { order: 'recent', page: 1, size: 1 },
      );
      const expected = { hot: best, weekly: best, [window]: leader };
      expect({ hot: list.hot?.id, weekly: list.weekly?.id }).to.deep.equal(expected);
    }
  });

  it('are null only when there is no live article', async () => {
    const live = (await Article.find({ state: 'live' }, { _id: 1 }).lean()).map(({ _id }) => _id);
    await Article.updateMany({ _id: { $in: live } }, { $set: { state: 'deleted' } });
    try {
      expect(
        await board.community.listArticles({ order: 'like', page: 1, size: 10, option: 'title' }),
      ).to.deep.equal({ hot: null, weekly: null, list: [] });
    } finally {
      await Article.updateMany({ _id: { $in: live } }, { $set: { state: 'live' } });
    }
  });

  it('are announced when an article starts to lead, not for every heart', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 3);
    const authorNo = (await Article.findById(first).lean())?.authorNo;
    expect(board.leadersAnnounced).to.deep.equal([
      { articleId: first, authorNo, title: 'A title', window: 'hot' },
      { articleId: first, authorNo, title: 'A title', window: 'weekly' },
    ]);
    board.clock.advance(2 * DAY);
    await giveHearts(second, 1);
    expect(board.leadersAnnounced.slice(2).map(({ articleId, window }) => [articleId, window])).to.deep.equal(
      [[second, 'hot']],
    );
  });

  it('are announced by a sweep if time alone makes a leader', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 2);
    board.clock.advance(HOUR);
    await giveHearts(second, 1);
    board.clock.advance(23 * HOUR);
    await board.community.sweep();
    expect(board.leadersAnnounced.map(({ articleId, window }) => [articleId, window])).to.deep.equal([
      [first, 'hot'],
      [first, 'weekly'],
      [second, 'hot'],
    ]);
  });

  it('are replaced by the next article when deleted', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 2);
    await giveHearts(second, 1);
    const admin = { ...(await board.member('Admin')), role: 'ADMIN' as const };
    await board.community.deleteArticle(admin, first);
    await board.community.sweep();
    expect(board.leadersAnnounced.map(({ articleId, window }) => [articleId, window])).to.deep.equal([
      [first, 'hot'],
      [first, 'weekly'],
      [second, 'hot'],
      [second, 'weekly'],
    ]);
  });

  it('are announced once for concurrent calls, and again if a listener failed', async () => {
    const no = await write();
    const givers = await Promise.all([1, 2, 3].map((i) => board.member(`G${i}`)));
    board.listenersFail = true;
    await board.community.giveHeart(givers[0] as Actor, 'article', no);
    expect(board.leadersAnnounced).to.deep.equal([]);
    board.listenersFail = false;
    await Promise.all(givers.slice(1).map((giver) => board.community.giveHeart(giver, 'article', no)));
    await board.community.sweep();
    expect(board.leadersAnnounced.map(({ window }) => window)).to.deep.equal(['hot', 'weekly']);
  });

  for (const window of ['hot', 'weekly'] as const) {
    it(`are announced by the next sweep where only who listens for the ${window} one failed`, async () => {
      const no = await write();
      board.listenersFail = window;
      await giveHearts(no, 1);
      const left = await Heart.findOne({ target: 'article', id: no }).lean();
      expect(left?.pending?.getTime(), 'the mark of the heart').to.equal(board.clock.now());
      board.listenersFail = false;
      await board.community.sweep();
      const announced = board.leadersAnnounced.map((event) => event.window);
      expect(announced).to.have.members(['hot', 'weekly']);
      expect((await Heart.findOne({ target: 'article', id: no }).lean())?.pending).to.equal(undefined);
    });
  }

  it('are chosen again after a failure', async () => {
    const no = await write();
    await giveHearts(no, 1);
    await board.community.readArticle(undefined, no);
    board.clock.advance(MINUTE);
    const stop = interceptCalls([Article], (_model, call, run) =>
      call === 'findOne' ? Promise.reject(new Error('database away')) : run(),
    );
    const failed = await leading().catch((error: Error) => error.message);
    stop();
    expect(failed).to.equal('database away');
    expect(await leading()).to.deep.equal({ hot: no, weekly: no });
  });

  it('are not chosen again while nothing relevant changed', async () => {
    const [first, second, third] = [await write(), await write(), await write()];
    await giveHearts(first, 2);
    await giveHearts(second, 1);
    const now = await leading();
    let looks = 0;
    const stop = interceptCalls([Article], (_model, call, run) => {
      if (call === 'findOne') looks += 1;
      return run();
    });
    // Views decide between equals alone: none of these is one.
    for (const no of [first, second, third]) await board.community.readArticle(undefined, no);
    expect(await leading()).to.deep.equal(now);
    stop();
    expect(looks).to.equal(0);
  });

  it('consider a view counted while they are being chosen', async () => {
    const [first, second] = [await write(), await write()];
    await giveHearts(first, 1);
    await giveHearts(second, 1);
    board.clock.advance(MINUTE);
    await meanwhile(
      'after',
      [Article, 'findOne'],
      () => board.community.readArticle(undefined, first),
      () => leading(),
    );
    expect((await leading()).hot).to.equal(first);
  });
});
