import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { TIMES, usePresenceProcesses } from './presence-processes.js';

describe('presence of a member who leaves by another process than the one that they entered by', () => {
  const { start } = usePresenceProcesses();
  /** No refresh runs by itself. */
  const SLOW = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
  let room = 7_500_000;
  beforeEach(() => {
    room += 1;
  });

  it('ends also if that one could not tell Redis of the arrival', async () => {
    const [one, two] = [await start(SLOW), await start(SLOW)];
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
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
});
