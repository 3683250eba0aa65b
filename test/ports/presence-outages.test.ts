import { expect } from 'chai';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, gate, sleep } from '../support/eventually.js';
import { reaches } from '../support/redis.js';
import {
  AT_ONCE_MS,
  type PresenceProcess,
  publishedOf,
  refreshed,
  SHORT,
  TIMES,
  usePresenceProcesses,
} from './presence-processes.js';

describe('presence when messages or Redis fail', () => {
  const { start, server } = usePresenceProcesses();
  let room = 7_000_000;
  beforeEach(() => {
    room += 1;
  });

  /** Waits until the grace after an interruption is over. */
  const settled = () => sleep(TIMES.grace * 2);

  it('sends a process’s connections the changes that did not arrive, once', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    expect(await one.presence.list(room)).deep.equal([3]);
    await two.presence.enter(room, 4, 'laptop');
    await eventually(() => expect(one.openRooms.sentHere).deep.equal([[room, 4, true]]));
    // Its push arrives late.
    expect(one.presence.accept(room, 4, true, two.versions[0] as number)).equal(false);
    await two.presence.leave(room, 4, 'laptop');
    await eventually(() => expect(one.openRooms.sentHere.slice(1)).deep.equal([[room, 4, false]]));
    await refreshed(one);
    expect(one.openRooms.sentHere).length(2);
  });

  it('does not send a change again that has arrived', async () => {
    // No refresh runs by itself: one between a change and its push would rightly send the change first.
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    /** Makes processes refresh the room, and waits for all of them. */
    async function refresh(...all: PresenceProcess[]): Promise<void> {
      const before = all.map(({ calls }) => calls);
      for (const { presence } of all) presence.check(room);
      await eventually(() => {
        for (const [i, { calls }] of all.entries()) expect(calls).above(before[i] as number);
      });
    }
    for (const process of [one, two]) {
      process.presence.onChange((...change) => {
        for (const { presence } of [one, two]) presence.accept(...change);
      });
    }
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await two.presence.enter(room, 4, 'laptop');
    await two.presence.list(room);
    await settled();
    await refresh(one, two);
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    await two.presence.leave(room, 4, 'laptop');
    await refresh(one);
    expect([...one.openRooms.sentHere, ...two.openRooms.sentHere]).deep.equal([]);
  });

  it('sends a change that was only announced', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await settled();
    await two.presence.enter(room, 4, 'laptop');
    one.presence.check(room);
    await eventually(() => expect(one.openRooms.sentHere).deep.equal([[room, 4, true]]));
    // However often it was announced, and not for a room that nobody is in here.
    const before = one.calls;
    for (let i = 0; i < 1_000; i += 1) for (const chatNo of [room, room + 1]) one.presence.check(chatNo);
    await one.presence.list(room);
    // The list, the refresh under way, and one that follows it.
    expect(one.calls - before).most(3);
  });

  it('asks once for many rooms of one group in which changes were announced', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    const rooms = Array.from({ length: 50 }, (_, i) => room + 256 * i);
    for (const chatNo of rooms) {
      await one.presence.enter(chatNo, 3, 'phone');
      await one.presence.list(chatNo);
    }
    await settled();
    for (const chatNo of rooms) await two.presence.enter(chatNo, 4, 'laptop');
    const before = one.calls;
    for (const chatNo of rooms) one.presence.check(chatNo);
    await eventually(() => expect(one.openRooms.sentHere).deep.equal(rooms.map((no) => [no, 4, true])));
    expect(one.calls - before).equal(1);
  });

  it('detects that a member is gone whose process ended together with Redis', async () => {
    // Nobody is left who knows of the member, whom all screens show as present.
    const [one, dying] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.list(room);
    await dying.presence.enter(room, 4, 'laptop');
    one.presence.accept(room, 4, true, dying.versions[0] as number);
    await dying.redis.close();
    const away = reaches(one.redis, 'down');
    await server().kill();
    await away;
    await server().restart();
    await eventually(() => expect(one.openRooms.sentHere.at(-1)).deep.equal([room, 4, false]));
    expect(publishedOf(one, 4)).deep.equal([]);
  });

  it('sends a change that a failover numbered lower than those before, as its clock is behind', async () => {
    // Whoever knows the higher numbers dropped it, and all that followed until the clock had caught up.
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 4, 'laptop');
    await one.presence.list(room);
    const earlier = (two.versions[0] as number) + 3_600_000_000;
    expect(one.presence.accept(room, 4, true, earlier)).equal(true);
    await two.presence.leave(room, 4, 'laptop');
    await eventually(() => expect(one.openRooms.sentHere).deep.equal([[room, 4, false]]));
    const version = async () => Number(await one.redis.commands.zscore(redisKeys.presence(room), '#'));
    const raised = await version();
    // By two, if a refresh came before the departure.
    expect(raised).within(earlier + 1, earlier + 2);
    // A number that no clock can have given is not taken over: it would spoil the room's versions.
    one.presence.accept(room, 4, true, earlier + 30 * 86_400_000_000);
    await refreshed(one);
    expect(await version()).equal(raised);
  });

  it('lists members as last known while Redis is away', async () => {
    // Otherwise a member who enters now would see the other party as absent, even after Redis is back.
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 4, 'laptop');
    one.presence.accept(room, 4, true, two.versions[0] as number);
    one.frozen = true;
    expect(await one.presence.list(room)).deep.equal([3, 4]);
    // Only for the list: a message counts as read only if its recipient is certainly present.
    expect(await one.presence.isPresent(room, 4)).equal(false);
  });

  it('orders a change made without Redis after all that has arrived and before all that Redis orders later', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.leave(room, 3, 'laptop');
    const left = two.versions.at(-1) as number;
    one.presence.accept(room, 3, false, left);
    one.frozen = true;
    await one.presence.enter(room, 3, 'phone');
    expect(one.published).deep.equal([[room, 3, true]]);
    expect(one.versions[0]).above(left);
    await one.presence.leave(room, 3, 'phone');
    expect(one.versions[1]).above(one.versions[0] as number);
    await two.presence.enter(room, 3, 'laptop');
    expect(two.versions.at(-1)).above(one.versions[1] as number);
  });

  it('ends for a connection that is gone, although the reply to its entry was lost', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 4, 'phone');
    one.losesReplies = true;
    await one.presence.enter(room, 3, 'phone');
    expect(await two.presence.list(room)).deep.equal([3, 4]);
    one.openRooms.leave(room, 'phone');
    one.losesReplies = false;
    await eventually(async () => expect(await two.presence.list(room)).deep.equal([4]));
    // Redis removes the entry before its reply arrives.
    await eventually(() => expect(one.published.at(-1)).deep.equal([room, 3, false]));
  });

  it('publishes an arrival or departure again whose reply from Redis was lost', async () => {
    // Others may know a later change than this process, and drop what it publishes by itself.
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.leave(room, 3, 'laptop');
    const left = two.versions.at(-1) as number;
    one.losesReplies = true;
    await one.presence.enter(room, 3, 'phone');
    expect(one.versions[0]).below(left);
    one.losesReplies = false;
    await eventually(() => expect(one.versions.at(-1)).above(left));
    const entered = one.versions.at(-1) as number;
    one.losesReplies = true;
    await one.presence.leave(room, 3, 'phone');
    one.losesReplies = false;
    await eventually(() => expect(one.versions.at(-1)).above(entered + 1));
    expect(one.published.slice(-2)).deep.equal([
      [room, 3, false],
      [room, 3, false],
    ]);
  });

  it('goes on within each process while Redis is away, and shares everything once it is back', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await one.presence.enter(room, 5, 'phone');
    await two.presence.enter(room, 4, 'phone');
    const away = Promise.all([reaches(one.redis, 'down'), reaches(two.redis, 'down')]);
    await server().kill();
    await away;

    const before = performance.now();
    expect(await one.presence.isPresent(room, 3)).equal(true);
    expect(await one.presence.isPresent(room, 4)).equal(false);
    const publishedBefore = one.published.length;
    await one.presence.enter(room, 6, 'phone');
    await one.presence.leave(room, 5, 'phone');
    expect(one.published.splice(0).slice(publishedBefore)).deep.equal([
      [room, 6, true],
      [room, 5, false],
    ]);
    expect(await one.presence.list(room)).deep.equal([3, 6]);
    expect(performance.now() - before).below(AT_ONCE_MS);

    const back = Promise.all([reaches(one.redis, 'up'), reaches(two.redis, 'up')]);
    await server().restart();
    await back;
    await eventually(async () => expect(await two.presence.list(room)).deep.equal([3, 4, 6]));
    // Changes made meanwhile are published now; nobody is reported gone by mistake.
    await eventually(() => {
      const published = [...one.published, ...two.published];
      expect(published).deep.include.members([
        [room, 6, true],
        [room, 5, false],
      ]);
      for (const memberNo of [3, 4, 6]) expect(published).not.deep.include([room, memberNo, false]);
    });
  });

  it('keeps other processes’ members during the grace after an interruption', async () => {
    const [one, dying] = [await start({ ...SHORT, grace: 60_000 }), await start(SHORT)];
    await one.presence.enter(room, 3, 'phone');
    await dying.presence.enter(room, 4, 'laptop');
    await dying.redis.close();
    const { commands } = one.redis;
    await eventually(async () => {
      const [seconds, micros] = await commands.time();
      const now = Number(seconds) * 1_000 + Number(micros) / 1_000;
      expect(Number(await commands.zscore(redisKeys.presence(room), `4:${dying.redis.processId}`))).below(
        now,
      );
    });
    await refreshed(one);
    expect(publishedOf(one, 4)).deep.equal([]);
    // The entry is left to a process whose grace is over.
    const sure = await start(SHORT);
    await sure.presence.enter(room, 5, 'tablet');
    await eventually(() => expect(publishedOf(sure, 4)).deep.equal([[room, 4, false]]));
  });

  it('keeps a member who returns after an unconfirmed departure', async () => {
    // No refresh runs by itself: one without replies would rightly publish the return once more.
    const one = await start({ ...TIMES, lifetime: 120_000, refreshEvery: 60_000 });
    const two = await start();
    await one.presence.enter(room, 4, 'tablet');
    await one.presence.enter(room, 3, 'phone');
    one.published.length = 0;
    one.losesReplies = true;
    await one.presence.leave(room, 3, 'phone');
    await one.presence.enter(room, 3, 'new page');
    one.losesReplies = false;
    one.presence.check(room);
    await eventually(() => expect(one.published).length(3));
    expect(await two.presence.list(room)).deep.equal([3, 4]);
    expect(one.published, 'published alone, and once when Redis answers').deep.equal([
      [room, 3, false],
      [room, 3, true],
      [room, 3, true],
    ]);
  });

  it('does not publish an unconfirmed departure after the member’s return', async () => {
    const one = await start();
    await one.presence.enter(room, 3, 'phone');
    const { open: answer, opened } = gate();
    one.late = opened;
    const leaving = one.presence.leave(room, 3, 'phone');
    delete one.late;
    await one.presence.enter(room, 3, 'new page');
    answer();
    await leaving;
    await refreshed(one);
    expect(one.published).not.deep.include([room, 3, false]);
    expect(await one.presence.list(room)).deep.equal([3]);
  });
});
