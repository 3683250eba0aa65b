import { expect } from 'chai';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, sleep } from '../support/eventually.js';
import { keepsToMemory } from '../support/redis.js';
import { publishedOf, refreshed, SHORT, TIMES, usePresenceProcesses } from './presence-processes.js';

/** No refresh runs by itself. */
const RARELY = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };

/** Nor does anything but looks whether Redis has lost something. */
const LOOKING = { ...RARELY, lookEvery: 50 };

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

  const whole: [how: string, lose: (redis: Started['redis']) => Promise<unknown>][] = [
    ['flushed', ({ commands }) => commands.flushall()],
    [
      'evicted',
      ({ commands }) => keepsToMemory(commands, 'allkeys-random', () => commands.set('one', 'more')),
    ],
  ];
  for (const [how, lose] of whole) {
    it(`is written again although nobody asks (${how})`, async () => {
      const [one, two] = [await start(LOOKING), await start(LOOKING)];
      await one.presence.enter(room, 3, 'phone');
      await two.presence.enter(room, 4, 'laptop');
      await one.presence.list(room);
      const { commands } = one.redis;
      // The first looks know how much was evicted until then.
      await refreshed(one);
      await refreshed(two);
      await lose(one.redis).catch(() => {});
      const entries = [`3:${one.redis.processId}`, `4:${two.redis.processId}`];
      await eventually(async () =>
        expect(await commands.zmscore(redisKeys.presence(room), ...entries)).not.include(null),
      );
      expect(one.openRooms.sentHere).deep.equal([]);
    });
  }

  it('is answered as last known here of a room that was evicted alone, and the room is written again', async () => {
    const [one, two] = [await start(RARELY), await start(RARELY)];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await two.presence.enter(room, 4, 'laptop');
    one.presence.accept(room, 4, true, two.versions[0] as number);
    await one.redis.commands.del(redisKeys.presence(room));
    expect(await one.presence.isPresent(room, 4)).equal(true);
    const { commands } = one.redis;
    await eventually(async () =>
      expect(await commands.zscore(redisKeys.presence(room), `3:${one.redis.processId}`)).not.equal(null),
    );
    expect(one.openRooms.sentHere).deep.equal([]);
  });

  it('keeps the marks from being the keys unused for longest, which a cache beside them would have evicted first', async () => {
    const one = await start(LOOKING);
    const { commands } = one.redis;
    // Seconds since it was used.
    const idle = async (key: string) => Number(await commands.object('IDLETIME', key));
    try {
      await commands.config('SET', 'maxmemory', '1gb', 'maxmemory-policy', 'allkeys-lru');
      // Of its own object, as of now: with that policy small numbers are not shared.
      await commands.set(redisKeys.presenceMark(room), 1);
      await commands.set('another', 'one');
      await eventually(async () => expect(await idle('another')).above(2));
      expect(await idle(redisKeys.presenceMark(room))).below(await idle('another'));
    } finally {
      await commands.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
    }
  });

  it('removes those of dead processes also while keys are being evicted all the time', async () => {
    const [one, dying] = [await start({ ...TIMES, lookEvery: 20 }), await start(SHORT)];
    await one.presence.enter(room, 3, 'phone');
    await dying.presence.enter(room, 4, 'laptop');
    await one.presence.list(room);
    await dying.redis.close();
    const { info } = one.redis.commands;
    let evicted = 0;
    one.redis.commands.info = (async () => {
      evicted += 1;
      return `evicted_keys:${evicted}\r\n`;
    }) as typeof info;
    await eventually(() => expect(publishedOf(one, 4)).deep.equal([[room, 4, false]]));
    expect(evicted).above(2);
  });

  it('keeps out whom another process had removed before this one heard of it', async () => {
    const [one, two] = [await start(RARELY), await start(RARELY)];
    await two.presence.enter(room, 4, 'laptop');
    await sleep(2 * RARELY.latency);
    two.frozen = true;
    await one.presence.clear(room, 4);
    two.frozen = false;
    await one.redis.commands.flushall();
    two.presence.check(room);
    await eventually(() => expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]));
    expect(await one.presence.list(room)).deep.equal([]);
    expect(publishedOf(two, 4).at(-1)).deep.equal([room, 4, false]);
  });

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
