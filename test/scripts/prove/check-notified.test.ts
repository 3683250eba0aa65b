import { expect } from 'chai';
import { judge } from '../../../scripts/prove/check/judge.js';
import { chatNotification, ToldHistory } from './told-history.js';

/** Violations by rule. */
const brokenIn = async (told: ToldHistory) => (await judge(told.text())).broken;

describe('the checker of npm run prove, of who is notified', () => {
  it('excuses a message whose notification is deleted with a later one before anybody sees it', async () => {
    const deletesAfter = async (isLater: boolean) => {
      const told = new ToldHistory();
      told.call(1, 2, 'stream', {}, {}, 'stream');
      told.closed(3, 2, 'stream', 'network');
      told.send(10, 1, 'first');
      told.send(20, 1, 'second');
      const notifications = [chatNotification(8, 'second')];
      told.call(30, 2, 'notifications', {}, { notifications });
      // Sent after the deleted one was shown, so not deleted with it.
      if (isLater) told.send(35, 1, 'third');
      told.call(40, 2, 'delete', { notifications: [8] });
      told.call(50, 2, 'stream', { after: 0 }, {}, 'stream');
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
      told.call(1, 2, 'stream', {}, {}, 'stream');
      const page = told.ask(9, 2, 'messages', { room: told.room });
      told.send(10, 1, 'hello');
      told.end(20, page, outcome);
      told.phase(30_000, 'final');
      expect((await brokenIn(told))['notified-once']).to.equal(outcome.e === 'fail' ? 1 : undefined);
    });
  }
});
