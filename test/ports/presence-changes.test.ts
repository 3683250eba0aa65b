import { expect } from 'chai';
import { PresenceStore } from '../../domain/chat/presence-store.js';
import { redisChannels, redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, sleep } from '../support/eventually.js';
import { reaches } from '../support/redis.js';
import { type PresenceProcess, refreshed, SHORT, TIMES, usePresenceProcesses } from './presence-processes.js';

describe('changes of presence on several processes', () => {
  const { start } = usePresenceProcesses();
  let room = 6_000_000;
  beforeEach(() => {
    room += 1;
  });

  it('removes a member on every process, and publishes it once', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(one.openRooms.takenOut).deep.equal([[room, 'phone']]);
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
    await two.presence.leave(room, 3, 'laptop');
    await sleep(TIMES.refreshEvery * 3);
    expect(await one.presence.isPresent(room, 3)).equal(false);
    expect([...one.published, ...two.published]).deep.equal([
      [room, 3, true],
      [room, 3, false],
    ]);
  });

  it('removes a member at once by a call to a process without a connection of theirs', async () => {
    // By itself: no refresh runs within the test.
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    expect(one.published).deep.equal([[room, 3, false]]);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
  });

  it('ignores messages on other channels', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const process = await start(times);
    await process.presence.enter(room, 3, 'laptop');
    const [subscriber, before] = [process.redis.subscriber(), process.calls];
    const [elsewhere, sent] = ['something else', ['no number', String(room)]];
    await subscriber.subscribe(elsewhere);
    const received: string[] = [];
    subscriber.on('messageBuffer', (from, message) => {
      if (String(from) === elsewhere) received.push(String(message));
    });
    for (const text of sent) await process.redis.commands.publish(elsewhere, text);
    await eventually(() => expect(received).deep.equal(sent));
    expect(await process.presence.list(room)).deep.equal([3]);
    // One call: the list itself.
    expect(process.calls).equal(before + 1);
  });

  it('removes a member although the message to the other process is lost', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await eventually(async () => expect(await two.presence.isPresent(room, 3)).equal(false));
    expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]);
  });

  it('does not return a removed member when two refreshes of a process meet', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000 };
    const [one, two] = [await start(times), await start(times)];
    await two.presence.enter(room, 3, 'laptop');
    await eventually(async () => {
      const [, count] = await one.redis.commands.pubsub('NUMSUB', redisChannels.presenceCleared);
      expect(Number(count)).equal(2);
    });
    const before = two.calls;
    // Each message makes the other process refresh the room: the first refresh learns of the removal, and the
    // second must not renew the entry because its process has not removed the connection yet.
    await one.presence.clear(room, 3);
    await one.redis.publish(redisChannels.presenceCleared, String(room));
    await eventually(() => expect(two.openRooms.takenOut).deep.equal([[room, 'laptop']]));
    await eventually(() => expect(two.calls).above(before));
    await sleep(50);
    expect(two.published).deep.equal([[room, 3, true]]);
    expect(await one.presence.list(room)).deep.equal([]);
  });

  it('publishes once that a member leaves while being removed', async () => {
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'laptop');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await two.presence.leave(room, 3, 'laptop');
    expect(one.published).deep.equal([[room, 3, false]]);
    expect(two.published).deep.equal([[room, 3, true]]);
  });

  it('keeps a connection that entered after the member was removed', async () => {
    // Otherwise the new page would stay present without being in the room: its messages would count as read and
    // never arrive.
    const [one, two] = [await start(), await start()];
    await two.presence.enter(room, 3, 'old page');
    await two.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await one.presence.clear(room, 3);
    await two.presence.enter(room, 3, 'new page');
    await refreshed(two);
    expect(two.openRooms.takenOut).deep.equal([[room, 'old page']]);
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'old page');
    expect(await one.presence.isPresent(room, 3)).equal(true);
    await two.presence.leave(room, 3, 'new page');
    expect(await one.presence.isPresent(room, 3)).equal(false);
  });

  it('orders changes, whichever processes make them', async () => {
    const [one, two, dying] = [await start(SHORT), await start(SHORT), await start(SHORT)];
    const versions: number[] = [];
    for (const { presence } of [one, two])
      presence.onChange((...[, no, , version]) => no === 3 && versions.push(version));
    await one.presence.enter(room, 4, 'watcher');
    await one.presence.enter(room, 3, 'phone');
    await one.presence.leave(room, 3, 'phone');
    await two.presence.enter(room, 3, 'laptop');
    await one.presence.clear(room, 3);
    await two.presence.enter(room, 3, 'new laptop');
    await two.presence.leave(room, 3, 'new laptop');
    await dying.presence.enter(room, 3, 'tablet');
    await dying.redis.close();
    await eventually(() => expect(versions).length(7));
    await two.presence.enter(room, 3, 'newest laptop');
    versions.splice(6, 0, dying.versions[0] as number);
    expect(versions).deep.equal([...versions].sort((a, b) => a - b));
    expect(new Set(versions).size).equal(versions.length);
  });

  it('sends a change whose push was lost, although a later one in the room arrived', async () => {
    const [one, two] = [await start(), await start()];
    await one.presence.enter(room, 2, 'watcher');
    expect(await one.presence.list(room)).deep.equal([2]);
    // Until the first refresh, rooms are told whatever has happened.
    await refreshed(one);
    await two.presence.enter(room, 3, 'laptop');
    await two.presence.enter(room, 4, 'laptop');
    one.presence.accept(room, 4, true, two.versions[1] as number);
    await eventually(() => expect(one.openRooms.sentHere).deep.include([room, 3, true]));
  });

  it('are all that a process is told of, and only what its connections may not know', async () => {
    const { redis } = await start();
    const store = new PresenceStore(redis, TIMES.lifetime, () => {});
    const [version] = (await store.enter(room, 3)) as [number, number];
    const told = async (known: number, isComplete: boolean) => {
      const entries = {
        ...{ chatNo: room, present: [[3, 0]] as [number, number][], unconfirmed: new Set<number>() },
        ...{ version: known, isComplete },
      };
      const [, rooms] = (await store.refresh([entries], true)) as [unknown, unknown];
      return rooms;
    };
    expect(await told(version, true)).deep.equal([]);
    expect(await told(version, false)).deep.equal([[1, version, 3]]);
    expect(await told(version - 1, true)).deep.equal([[1, version, 3]]);
    // Redis has lost the latest changes, or its clock was set back.
    const known = version + 3_600_000_000;
    expect(await told(known, true)).deep.equal([[1, known + 1, 3]]);
  });

  it('are all sent after an interruption, in which Redis may have given a known version to others', async () => {
    const one = await start();
    const { commands } = one.redis;
    await one.presence.enter(room, 2, 'watcher');
    await one.presence.list(room);
    await refreshed(one);
    await commands.zadd(redisKeys.presence(room), Date.now() + TIMES.lifetime, '4:another process');
    await refreshed(one);
    expect(one.openRooms.sentHere).deep.equal([]);
    const back = Promise.all([reaches(one.redis, 'down'), reaches(one.redis, 'up')]);
    await commands.client('KILL', 'TYPE', 'PUBSUB');
    await back;
    await eventually(() => expect(one.openRooms.sentHere).deep.equal([[room, 4, true]]));
  });

  it('by which a member is removed take them off the list, although they still have a connection here', async () => {
    const times = { ...TIMES, lifetime: 120_000, refreshEvery: 60_000, grace: 0 };
    const [one, two] = [await start(times), await start(times)];
    await one.presence.enter(room, 2, 'watcher');
    await one.presence.enter(room, 3, 'page');
    await one.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
    await two.presence.clear(room, 3);
    one.presence.accept(room, 3, false, two.versions[0] as number);
    expect(await one.presence.list(room)).deep.equal([2]);
    await one.presence.enter(room, 4, 'newcomer');
    expect(await one.presence.list(room)).deep.equal([2, 4]);
  });

  for (const [how, removed] of [
    ['is removed', async () => {}],
    ['leaves', (one: PresenceProcess) => one.presence.leave(room, 3, 'page')],
  ] as const)
    it(`sends that a member is gone who ${how} after a list that had them by their connection here`, async () => {
      const times = { ...TIMES, refreshEvery: 200 };
      const [one, two] = [await start(times), await start(times)];
      await one.presence.enter(room, 2, 'watcher');
      await one.presence.enter(room, 3, 'page');
      await one.presence.list(room);
      await refreshed(one);
      await one.redis.subscriber().unsubscribe(redisChannels.presenceCleared);
      await two.presence.clear(room, 3);
      await one.presence.list(room);
      one.presence.accept(room, 3, false, two.versions[0] as number);
      await removed(one);
      await eventually(() => expect(one.openRooms.sentHere).deep.equal([[room, 3, false]]));
      expect(await one.presence.list(room)).deep.equal([2]);
    });

  it('accepts a change unless it, or a later one of the member, is known', async () => {
    const one = await start();
    await one.presence.enter(room, 3, 'phone');
    await one.presence.leave(room, 3, 'phone');
    await one.presence.enter(room, 3, 'phone');
    const [entered, left, back] = one.versions as [number, number, number];
    expect(one.presence.accept(room, 3, true, back)).equal(true);
    expect(one.presence.accept(room, 3, true, back)).equal(false);
    expect(one.presence.accept(room, 3, false, left)).equal(false);
    expect(one.presence.accept(room, 3, true, entered)).equal(false);
    // Members and rooms are ordered independently.
    expect(one.presence.accept(room, 4, false, left)).equal(true);
    expect(one.presence.accept(room + 1_000_000, 3, false, left)).equal(true);
  });
});
