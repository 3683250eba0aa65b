import { expect } from 'chai';
import { judge } from '../../../scripts/prove/check/judge.js';
import { chatNotification, ToldHistory } from './told-history.js';

/** Violations by rule. */
const brokenIn = async (told: ToldHistory) => (await judge(told.text())).broken;

describe('the checker of npm run prove, of who is notified', () => {
  it('excuses a message whose notification is deleted with a later one before anybody sees it', async () => {
    const deletesAfter = async (isLater: boolean) => {
      const told = new ToldHistory();
      told.call(1, 2, 'stream', {}, { last: 0 }, 'stream');
      told.closed(3, 2, 'stream', 'network');
      told.send(10, 1, 'first');
      told.send(20, 1, 'second');
      const notifications = [chatNotification(8, 'second')];
      told.call(30, 2, 'notifications', {}, { notifications });
      // Sent after the deleted one was shown, so not deleted with it.
      if (isLater) told.send(35, 1, 'third');
      told.call(40, 2, 'delete', { notifications: [8] });
      told.call(50, 2, 'stream', { after: 0 }, { last: 0 }, 'stream');
      told.phase(30_000, 'final');
      return (await brokenIn(told))['notified-once'];
    };
    expect(await deletesAfter(false)).to.equal(undefined);
    expect(await deletesAfter(true)).to.equal(1);
  });

  for (const outcome of [
    { e: 'ok', f: 'messages', messages: [] },
    { e: 'info', reason: 'time-out' },
    { e: 'fail', status: 429, code: 'RATE_LIMITED' },
  ]) {
    it(`needs no notification of a message that a page under way may read, but of a refused one: ${outcome.e}`, async () => {
      const told = new ToldHistory();
      told.call(1, 2, 'stream', {}, { last: 0 }, 'stream');
      const page = told.ask(9, 2, 'messages', { room: told.room, limit: 50 });
      told.send(10, 1, 'hello');
      told.end(20, page, outcome);
      told.phase(30_000, 'final');
      expect((await brokenIn(told))['notified-once']).to.equal(outcome.e === 'fail' ? 1 : undefined);
    });
  }

  it('finds what open streams and sockets were not sent, although only the list at the end shows it', async () => {
    const told = new ToldHistory();
    told.call(1, 2, 'stream', {}, { last: 0 }, 'stream');
    told.call(3, 2, 'connect', {}, {}, 'socket');
    told.send(10, 1, 'hello');
    told.phase(30_000, 'final');
    told.call(30_010, 2, 'notifications', {}, { notifications: [chatNotification(8, 'hello')] });
    told.phase(30_020, 'end');
    const broken = await brokenIn(told);
    expect(broken).to.include({ 'stream-without-gap': 1, 'socket-gets-notifications': 1 });
  });

  it('finds what a socket was not sent that closes before the end, unless it was lost or the time is too short', async () => {
    const closesAt = async (t: number, reason: string) => {
      const told = new ToldHistory();
      told.call(1, 2, 'connect', {}, {}, 'socket');
      told.send(10, 1, 'hello');
      told.call(20, 2, 'notifications', {}, { notifications: [chatNotification(8, 'hello')] });
      told.closed(t, 2, 'socket', reason);
      return (await brokenIn(told))['socket-gets-notifications'];
    };
    expect(await closesAt(12_000, 'io client disconnect')).to.equal(undefined);
    expect(await closesAt(12_100, 'io client disconnect')).to.equal(1);
    expect(await closesAt(72_000, 'transport close')).to.equal(undefined);
    expect(await closesAt(72_100, 'transport close')).to.equal(1);
  });

  it('lets a stream leave out as many numbers as notifications were deleted before that it had not carried', async () => {
    const goesOnAt = async (n: number, deletedAt = 30) => {
      const told = new ToldHistory();
      told.call(1, 1, 'stream', { after: 0 }, { last: 0 }, 'stream');
      told.closed(3, 1, 'stream', 'network');
      for (const content of ['first', 'second']) told.call(10, 2, 'comment', { article: 1, content });
      const [first, second] = ['first', 'second'].map((content, i) => ({
        ...{ id: i + 8, type: 'comment', content, url: '/board/1', checked: false, name: 'member 2', at: 0 },
      }));
      told.call(20, 1, 'notifications', {}, { notifications: [second, first] });
      if (deletedAt < 50) told.call(deletedAt, 1, 'delete', { notifications: [8] });
      told.call(40, 1, 'stream', { after: 0 }, { last: 0 }, 'stream');
      told.deliver(50, 1, 'stream', { event: 'notification', n, notification: second });
      if (deletedAt > 50) told.call(deletedAt, 1, 'delete', { notifications: [8] });
      return (await brokenIn(told))['stream-without-gap'];
    };
    expect(await goesOnAt(2)).to.equal(undefined);
    expect(await goesOnAt(3)).to.equal(1);
    expect(await goesOnAt(2, 60)).to.equal(1);
  });

  it('finds, without running out of memory, a stream whose numbers jump or are none', async () => {
    const carries = async (n: number | null) => {
      const told = new ToldHistory();
      told.call(1, 2, 'stream', { after: 0 }, { last: 0 }, 'stream');
      told.send(10, 1, 'hello');
      const notification = chatNotification(8, 'hello');
      told.deliver(20, 2, 'stream', { event: 'notification', n, notification });
      return (await judge(told.text())).violations.map(({ rule, text }) => `${rule}: ${text}`);
    };
    expect(await carries(1)).to.deep.equal([]);
    const shown = 'stream-without-gap: the stream m2.stream of member 2';
    expect(await carries(3)).to.deep.equal([`${shown} leaves out n 1`, `${shown} leaves out n 2`]);
    expect(await carries(1.7e12)).to.deep.equal([
      `${shown} carries n 1700000000000, chat "hello" (id 8, n ?), after 0`,
    ]);
    for (const n of [null, 0, 1.5])
      expect(await carries(n)).to.deep.equal([
        `${shown} carries n ${n}, chat "hello" (id 8, n ?), which is no number of a notification`,
      ]);
  });
});
