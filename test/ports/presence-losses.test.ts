import { expect } from 'chai';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually } from '../support/eventually.js';
import { publishedOf, TIMES, usePresenceProcesses } from './presence-processes.js';

/** No refresh runs by itself. */
const RARELY = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };

describe('presence when Redis has lost its data', () => {
  const { start } = usePresenceProcesses();
  let room = 7_100_000;
  beforeEach(() => {
    room += 1;
  });

  const losses: [how: string, lose: (redis: Started['redis']) => Promise<unknown>][] = [
    ['flushed', ({ commands }) => commands.flushall()],
    // Of a cluster, one node: that of the room.
    [
      'of one group of rooms',
      ({ commands }) => commands.del(redisKeys.presence(room), redisKeys.presenceMark(room)),
    ],
  ];
  for (const [how, lose] of losses) {
    it(`is right at the first question (${how})`, async () => {
      const [one, two] = [await start(RARELY), await start(RARELY)];
      await one.presence.enter(room, 3, 'phone');
      await two.presence.enter(room, 4, 'laptop');
      await lose(one.redis);
      const [present, list] = await Promise.all([one.presence.isPresent(room, 4), one.presence.list(room)]);
      expect(present).equal(true);
      expect(list).deep.equal([3, 4]);
      expect(await two.presence.list(room)).deep.equal([3, 4]);
    });
  }

  it('tells no connection that somebody left, and of who arrives and leaves as ever', async () => {
    const [one, two] = [await start(RARELY), await start(RARELY)];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 4, 'laptop');
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    await one.redis.commands.flushall();
    one.presence.check(room);
    await eventually(() =>
      expect(publishedOf(two, 4)).deep.equal([
        [room, 4, true],
        [room, 4, true],
      ]),
    );
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    expect(one.openRooms.sentHere).deep.equal([]);
    await two.presence.leave(room, 4, 'laptop');
    expect(publishedOf(two, 4).at(-1)).deep.equal([room, 4, false]);
    expect(await one.presence.list(room)).deep.equal([3]);
  });

  it('is not asked for twice where nothing was lost', async () => {
    const one = await start(RARELY);
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    const before = one.calls;
    expect(await one.presence.isPresent(room, 4)).equal(false);
    expect(one.calls).equal(before + 1);
  });
});

type Started = Awaited<ReturnType<ReturnType<typeof usePresenceProcesses>['start']>>;
