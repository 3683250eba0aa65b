import { expect } from 'chai';
import { judge, type Verdict } from '../../../scripts/prove/check/judge.js';
import type { Header } from '../../../scripts/prove/history.js';
import { TOLD_AT, ToldHistory } from './told-history.js';

/** Of an installation that was running already, or that a run has started. */
function verdictOf(told: ToldHistory, isShared: boolean): Promise<Verdict> {
  (told.lines[0] as Header).options = { faults: 'none', ...(isShared ? { foreign: true } : {}) };
  return judge(told.text());
}

async function expectShared(told: ToldHistory, ...broken: string[]): Promise<void> {
  const shared = await verdictOf(told, true);
  expect(shared.violations.map(({ text }) => text)).to.deep.equal([]);
  expect((await verdictOf(told, false)).broken).to.have.all.keys(...broken);
}

const ARTICLE = { title: 'one', text: 'Bori', author: 1, at: 0 };

describe('the checker of npm run prove, of an installation that others use, too', () => {
  it('lets others comment on, like and read its articles', async () => {
    const told = new ToldHistory();
    told.call(10, 1, 'article', { article: 1 }, { ...ARTICLE, views: 7, likes: 2, comments: 1 });
    const comment = { id: 9, author: 3, content: 'by nobody of the run', likes: 1, deleted: false, at: 0 };
    told.call(20, 1, 'comments', { article: 1 }, { comments: [comment] });
    const { content } = comment;
    const notification = {
      id: 1,
      type: 'comment',
      content,
      url: '/board/1',
      checked: false,
      name: 'Hana',
      at: 0,
    };
    told.call(30, 1, 'notifications', {}, { notifications: [notification] });
    await expectShared(
      told,
      'comments-are-kept',
      'counters-are-records',
      'hearts-are-counted',
      'notified-once',
    );
  });

  it('does not know who writes in other rooms of its members', async () => {
    const told = new ToldHistory();
    const opened = { creator: 3, joiner: 1, saleNo: 8, saleTitle: 'Nabi' };
    const other = { room: 6, unread: 1, latest: 'by nobody of the run', latestAt: TOLD_AT, since: 0, opened };
    const own = { room: told.room, unread: 0, since: 0 };
    told.call(10, 1, 'rooms', {}, { rooms: [other, own] });
    told.call(20, 1, 'connect', {}, {}, 'socket');
    told.deliver(30, 1, 'socket', { event: 'room', state: other });
    await expectShared(told, 'latest-message');
  });

  it('demands nothing that only an installation of the run’s own can show', async () => {
    const told = new ToldHistory();
    const hot = 'hot and weekly articles compared with the hearts of all';
    const isMissing = async (isShared: boolean) =>
      (await verdictOf(told, isShared)).missing.includes(`never reached: ${hot}`);
    expect([await isMissing(true), await isMissing(false)]).to.deep.equal([false, true]);
  });
});
