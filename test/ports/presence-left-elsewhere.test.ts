import { expect } from 'chai';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, sleep } from '../support/eventually.js';
import { type PresenceProcess, refreshed, TIMES, usePresenceProcesses } from './presence-processes.js';

describe('presence of a member who leaves by another process than the one that they entered by', () => {
  const { start } = usePresenceProcesses();
  /** No refresh runs by itself. */
  const SLOW = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
  /** Longer than a call to Redis takes: which of two was first is told by time, where Redis has not heard of both. */
  const later = () => sleep(200);
  /** They leave by a process without Redis, and enter by another one before the first has told Redis of it. */
  async function enterAfterLeaving(left: PresenceProcess, entered: PresenceProcess): Promise<void> {
    await later();
    left.frozen = true;
    await left.presence.clear(room, 3);
    await later();
    await entered.presence.enter(room, 3, 'new page');
    left.frozen = false;
    await eventually(() => expect(entered.openRooms.isInRoom(room, 'phone')).equal(false));
  }
  let room = 7_500_000;
  beforeEach(() => {
    room += 1;
  });

  it('ends also if that one could not tell Redis of the arrival', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    await later();
    await two.presence.clear(room, 3);
    one.frozen = false;
    one.presence.check(room);
    await eventually(() => expect(one.published).length(2));
    expect(one.published).deep.equal([
      [room, 3, true],
      [room, 3, false],
    ]);
    expect(one.presence.isHere(room, 3)).equal(false);
    expect(one.openRooms.isInRoom(room, 'phone')).equal(false);
    expect(await two.presence.list(room)).deep.equal([]);
  });

  it('goes on if they entered again afterwards', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    await two.presence.clear(room, 3);
    await later();
    await one.presence.enter(room, 3, 'new page');
    one.frozen = false;
    one.presence.check(room);
    await eventually(() => expect(one.published).length(2));
    expect(one.published.at(-1)).deep.equal([room, 3, true]);
    expect(await two.presence.list(room)).deep.equal([3]);
  });

  it('goes on if they had entered there when Redis was back, and ends for the page before', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    await later();
    await two.presence.clear(room, 3);
    await later();
    one.frozen = false;
    await one.presence.enter(room, 3, 'new page');
    one.presence.check(room);
    await eventually(() => expect(one.openRooms.isInRoom(room, 'phone')).equal(false));
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    expect(one.published.at(-1)).deep.equal([room, 3, true]);
    expect(await two.presence.list(room)).deep.equal([3]);
  });

  it('ends if they leave once more by a page that Redis has not heard of', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    await one.presence.enter(room, 3, 'phone');
    one.frozen = true;
    await two.presence.clear(room, 3);
    await later();
    await one.presence.enter(room, 3, 'new page');
    await later();
    await two.presence.clear(room, 3);
    one.frozen = false;
    one.presence.check(room);
    await eventually(() => expect(one.openRooms.isInRoom(room, 'new page')).equal(false));
    expect(await two.presence.list(room)).deep.equal([]);
  });

  it('ends if they leave once more while that one stands still', async () => {
    const short = { ...TIMES, lifetime: 1_000 };
    const [one, two] = [await start({ ...short, refreshEvery: SLOW.refreshEvery }), await start(short)];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 9, 'witness');
    await enterAfterLeaving(two, one);
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    one.frozen = true;
    await eventually(() => expect(two.published.at(-1)).deep.equal([room, 3, false]));
    await two.presence.clear(room, 3);
    one.frozen = false;
    one.presence.check(room);
    await eventually(() => expect(one.openRooms.isInRoom(room, 'new page')).equal(false));
    expect(await two.presence.list(room)).deep.equal([9]);
  });

  it('ends for the page before also if Redis’s answers are lost', async () => {
    const [one, two] = [await start(SLOW), await start({ ...SLOW, refreshEvery: TIMES.refreshEvery })];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    await later();
    two.losesReplies = true;
    await two.presence.clear(room, 3);
    await refreshed(two);
    two.losesReplies = false;
    await later();
    await one.presence.enter(room, 3, 'new page');
    one.frozen = false;
    one.losesReplies = true;
    const { calls } = one;
    one.presence.check(room);
    await eventually(() => expect(one.calls).above(calls));
    one.losesReplies = false;
    one.presence.check(room);
    await eventually(() => expect(one.openRooms.isInRoom(room, 'phone')).equal(false));
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    expect(await two.presence.list(room)).deep.equal([3]);
  });

  it('ends also if the other one could not tell Redis of it then', async () => {
    const [one, two] = [await start(SLOW), await start({ ...SLOW, refreshEvery: TIMES.refreshEvery })];
    await one.presence.enter(room, 3, 'phone');
    await later();
    two.frozen = true;
    await two.presence.clear(room, 3);
    expect(one.presence.isHere(room, 3)).equal(true);
    two.frozen = false;
    await eventually(() => expect(one.published).length(2));
    expect(one.published.at(-1)).deep.equal([room, 3, false]);
    expect(one.openRooms.isInRoom(room, 'phone')).equal(false);
    expect(await two.presence.list(room)).deep.equal([]);
  });

  it('goes on by a connection that entered between the two, and ends by those before', async () => {
    const [one, two, three] = [await start(), await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await three.presence.enter(room, 3, 'tablet');
    await enterAfterLeaving(two, one);
    await eventually(() => expect(three.openRooms.isInRoom(room, 'tablet')).equal(false));
    await refreshed(one);
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    expect([...one.published, ...three.published]).deep.equal([[room, 3, true]]);
    expect(await two.presence.list(room)).deep.equal([3]);
  });

  it('goes on after Redis’s clock was set back behind an earlier removal', async () => {
    const [one, two] = [await start(), await start()];
    const { commands } = one.redis;
    const key = redisKeys.presence(room);
    await one.presence.enter(room, 3, 'phone');
    await later();
    two.frozen = true;
    await two.presence.clear(room, 3);
    two.frozen = false;
    await eventually(() => expect(one.openRooms.isInRoom(room, 'phone')).equal(false));
    for (const entry of await commands.zrange(key, '0', '-1'))
      if (/^[!?]/.test(entry)) await commands.zincrby(key, 60_000, entry);
    await one.presence.enter(room, 3, 'new page');
    await refreshed(one);
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    await later();
    await two.presence.clear(room, 3);
    await eventually(() => expect(one.openRooms.isInRoom(room, 'new page')).equal(false));
  });

  it('does not end for others while many removals are repeated', async () => {
    const times = { ...TIMES, lifetime: 1_500, refreshEvery: 300 };
    const [one, two] = [await start(times), await start(times)];
    await two.presence.enter(room, 9, 'witness');
    await one.presence.enter(room, 3, 'phone');
    one.frozen = true;
    for (let i = 1; i <= 200; i += 1) await one.presence.clear(room + 1_000 * i, 3);
    const ask = one.redis.ask.bind(one.redis);
    one.redis.ask = async (question) => {
      await sleep(15);
      return ask(question);
    };
    const { calls } = one;
    one.frozen = false;
    await eventually(() => expect(one.calls).above(calls + 200));
    expect(two.published.filter(([, memberNo]) => memberNo === 3)).deep.equal([]);
    expect(await two.presence.list(room)).deep.equal([3, 9]);
  });
});
