import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { refreshed, TIMES, usePresenceProcesses } from './presence-processes.js';

describe('presence of a member who leaves by another process than the one that they entered by', () => {
  const { start } = usePresenceProcesses();
  /** No refresh runs by itself. */
  const SLOW = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
  /** Longer than a call to Redis takes: which of two was first is told by time, where Redis has not heard of both. */
  const later = () => sleep(200);
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

  it('goes on if they had entered there when Redis was back', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    await two.presence.clear(room, 3);
    one.frozen = false;
    await one.presence.enter(room, 3, 'new page');
    one.presence.check(room);
    await eventually(() => expect(one.calls).above(2));
    expect(one.published.at(-1)).deep.equal([room, 3, true]);
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
    await later();
    two.frozen = true;
    await two.presence.clear(room, 3);
    await later();
    await one.presence.enter(room, 3, 'new page');
    two.frozen = false;
    await eventually(() => expect(one.openRooms.isInRoom(room, 'phone')).equal(false));
    await eventually(() => expect(three.openRooms.isInRoom(room, 'tablet')).equal(false));
    await refreshed(one);
    expect(one.openRooms.isInRoom(room, 'new page')).equal(true);
    expect([...one.published, ...three.published]).deep.equal([[room, 3, true]]);
    expect(await two.presence.list(room)).deep.equal([3]);
  });
});
