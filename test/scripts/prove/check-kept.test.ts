import { expect } from 'chai';
import { judge } from '../../../scripts/prove/check/judge.js';
import { TOLD_AT, ToldHistory } from './told-history.js';

const violationsOf = async (told: ToldHistory) =>
  (await judge(told.text())).violations.map(({ rule, text }) => `${rule}: ${text}`);

/** A message of member 1 as a socket shows it. */
const shown = (content: string, seq: number, readCount: number) => ({
  ...{ id: `id of ${content}`, seq, sender: 1, content, readCount, at: TOLD_AT },
});

/** The article of told histories, as it is answered. */
const ARTICLE = { title: 'one', text: 'Bori', author: 1, likes: 0, at: 0 };

describe('the checker of npm run prove, of what must stay', () => {
  it('finds messages that stay unread although their recipient was in the room', async () => {
    const unreadOf = async (left: 'never' | 'before' | 'lost') => {
      const told = new ToldHistory();
      const room = { room: told.room };
      told.call(1, 2, 'connect', {}, {}, 'socket');
      const empty = { seq: 0, messages: [], present: [2], more: false };
      told.call(10, 2, 'join', { ...room, after: 0 }, empty, 'socket');
      if (left === 'before') told.call(20, 2, 'leave', room, {}, 'socket');
      told.send(30, 1, 'hello');
      if (left === 'lost') told.closed(40, 2, 'socket', 'ping timeout');
      told.phase(60_000, 'final');
      const state = { ...room, unread: 1, latest: 'hello', latestAt: TOLD_AT, since: 0 };
      told.call(60_010, 2, 'rooms', {}, { rooms: [state] });
      told.call(60_020, 1, 'rooms', {}, { rooms: [{ ...state, unread: 0 }] });
      const all = { seq: 1, messages: [shown('hello', 1, 1)], present: [1], more: false };
      told.call(60_030, 1, 'join', { ...room, after: 0 }, all, 'socket');
      told.phase(60_040, 'end');
      const found = await violationsOf(told);
      return found.filter((text) => /^unread-counts: .*was in the room when it came/.test(text)).length;
    };
    expect(await unreadOf('never')).to.equal(1);
    expect(await unreadOf('before')).to.equal(0);
    expect(await unreadOf('lost')).to.equal(0);
  });

  it('finds that one connection is told twice of typing that was said once, and allows it for two', async () => {
    const foundOf = async (reconnects: boolean) => {
      const told = new ToldHistory();
      const typing = { room: told.room, typing: true };
      told.call(1, 2, 'connect', {}, {}, 'socket');
      told.ask(10, 1, 'typing', typing, 'socket');
      told.deliver(11, 2, 'socket', { event: 'typing', who: 1, ...typing });
      if (reconnects) {
        told.closed(20, 2, 'socket', 'transport close');
        told.call(30, 2, 'connect', {}, {}, 'socket');
      }
      told.deliver(40, 2, 'socket', { event: 'typing', who: 1, ...typing });
      return (await violationsOf(told)).filter((text) => text.startsWith('typing-is-typed: ')).length;
    };
    expect(await foundOf(false)).to.equal(1);
    expect(await foundOf(true)).to.equal(0);
  });

  it('compares times with the wall clock, but for a running installation, whose clock may differ', async () => {
    const foundOf = async (options: object) => {
      const told = new ToldHistory();
      Object.assign((told.lines[0] as { options: object }).options, options);
      told.call(
        10,
        1,
        'send',
        { room: told.room, key: 'k', content: 'hello' },
        { id: 'x', readCount: 1, at: 3_000 },
      );
      return (await violationsOf(told)).filter((text) => text.startsWith('times-agree: ')).length;
    };
    expect(await foundOf({})).to.equal(1);
    expect(await foundOf({ foreign: true })).to.equal(0);
  });

  it('finds that a message is gone which only a page has shown', async () => {
    const told = new ToldHistory();
    const room = { room: told.room };
    const send = told.ask(10, 1, 'send', { ...room, key: 'k', content: 'hello' });
    told.end(20, send, { e: 'info', reason: 'time-out' });
    const { seq: _, ...listed } = shown('hello', 1, 1);
    told.call(30, 2, 'messages', { ...room, limit: 50 }, { messages: [listed] });
    told.phase(60_000, 'final');
    const none = { seq: 0, messages: [], present: [2], more: false };
    told.call(60_010, 2, 'join', { ...room, after: 0 }, none, 'socket');
    expect(await violationsOf(told)).to.deep.equal([
      'acknowledged-is-kept: "hello" (number ?, id id of hello) of room 5 was acknowledged or shown at 0.031 s, and the whole room, read at the end, does not hold it',
    ]);
  });

  it('finds, without running out of memory, a message whose number cannot be', async () => {
    for (const seq of [4e9, 1.7e12, 0]) {
      const told = new ToldHistory();
      // Whether it is in the room, nobody can tell.
      const join = told.ask(5, 2, 'join', { room: told.room, after: 0 }, 'socket');
      told.end(6, join, { e: 'info', reason: 'time-out' });
      told.send(10, 1, 'hello');
      told.deliver(20, 2, 'socket', { event: 'message', room: told.room, message: shown('hello', seq, 1) });
      const found = (await violationsOf(told)).filter((text) => text.startsWith('numbered-'));
      expect(found).to.deep.equal([
        `numbered-without-holes: room 5, push of m2.socket: "hello" (number ${seq}, id id of hello) cannot have its number: the room has not as many messages`,
      ]);
    }
  });

  it('misses a number in a history that has ended, not in one that was cut off before all were shown', async () => {
    const foundOf = async (hasEnded: boolean) => {
      const told = new ToldHistory();
      for (const [t, content] of [[10, 'first'] as const, [20, 'second'] as const]) told.send(t, 1, content);
      told.deliver(30, 2, 'socket', { event: 'message', room: told.room, message: shown('second', 2, 1) });
      if (hasEnded) told.phase(60_000, 'end');
      return (await violationsOf(told)).filter((text) => text.startsWith('numbered-without-holes: '));
    };
    expect(await foundOf(true)).to.deep.equal([
      'numbered-without-holes: room 5: nobody was ever shown number 1, but "second" (number 2, id id of second)',
    ]);
    expect(await foundOf(false)).to.deep.equal([]);
  });

  it('finds that a comment is gone whose removal was refused, and no other may have removed it', async () => {
    const refused = { e: 'fail', status: 429, code: 'RATE_LIMITED' };
    const foundAfter = async (...outcomes: object[]) => {
      const told = new ToldHistory();
      const one = { id: 9, author: 1, content: 'hello', likes: 0, deleted: false, at: TOLD_AT };
      told.call(10, 1, 'comment', { article: 1, content: 'hello' });
      told.call(20, 1, 'comments', { article: 1 }, { comments: [one] });
      const ops = outcomes.map((_, i) => told.ask(30 + i, 1, 'uncomment', { article: 1, comment: 9 }));
      for (const [i, outcome] of outcomes.entries()) told.end(40 + i, ops[i] as number, outcome);
      told.call(50, 1, 'comments', { article: 1 }, { comments: [] });
      told.call(60, 1, 'article', { article: 1 }, { ...ARTICLE, views: 1, comments: 0 });
      return (await violationsOf(told)).map((text) => text.slice(0, text.indexOf(':')));
    };
    const found = ['comments-are-kept', 'counters-are-records'];
    expect(await foundAfter(refused)).to.deep.equal(found);
    expect(await foundAfter(refused, refused)).to.deep.equal(found);
    expect(await foundAfter(refused, { e: 'ok', f: 'uncomment' })).to.deep.equal([]);
    expect(await foundAfter({ e: 'ok', f: 'uncomment' }, refused)).to.deep.equal([]);
    expect(await foundAfter({ e: 'info', reason: '503 no code' }, refused)).to.deep.equal([]);
    expect(await foundAfter({ e: 'fail', status: 404, code: 'COMMENT_NOT_FOUND' }, refused)).to.deep.equal(
      [],
    );
  });

  it('demands nothing of a comment that is removed after a refusal', async () => {
    const told = new ToldHistory();
    const one = { id: 9, author: 1, content: 'hello', likes: 0, deleted: false, at: TOLD_AT };
    const it = { article: 1, comment: 9 };
    told.call(10, 1, 'comment', { article: 1, content: 'hello' });
    told.call(20, 1, 'comments', { article: 1 }, { comments: [one] });
    told.end(31, told.ask(30, 1, 'uncomment', it), { e: 'fail', status: 503, code: 'OVERLOADED' });
    told.call(40, 1, 'article', { article: 1 }, { ...ARTICLE, views: 1, comments: 1 });
    told.call(50, 1, 'uncomment', it);
    told.call(60, 1, 'article', { article: 1 }, { ...ARTICLE, views: 2, comments: 0 });
    expect(await violationsOf(told)).to.deep.equal([]);
  });

  it('finds that two hearts, or bookmarks, that a member gives at the same time both count', async () => {
    const ok = { e: 'ok', f: 'bookmark' };
    const refused = { e: 'fail', status: 409, code: 'ALREADY_BOOKMARKED' };
    const racing = async (first: object, second: object, again: object = refused) => {
      const told = new ToldHistory();
      const ops = [10, 11].map((t) => told.ask(t, 1, 'bookmark', { article: 1 }));
      told.end(12, ops[0] as number, first);
      told.end(13, ops[1] as number, second);
      told.end(21, told.ask(20, 1, 'bookmark', { article: 1 }), again);
      return (await violationsOf(told)).length;
    };
    expect(await racing(ok, refused)).to.equal(0);
    expect(await racing(refused, ok)).to.equal(0);
    expect(await racing(ok, ok)).to.equal(1);
    expect(await racing(refused, refused)).to.equal(1);
    expect(await racing(refused, ok, ok)).to.equal(1);
  });
});
