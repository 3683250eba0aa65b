import { expect } from 'chai';
import { redisKeys } from '../../domain/kernel/redis-keys.js';
import { eventually, sleep } from '../support/eventually.js';
import { keepsToMemory } from '../support/redis.js';
import {
  type PresenceProcess,
  publishedOf,
  refreshed,
  SHORT,
  TIMES,
  usePresenceProcesses,
} from './presence-processes.js';

describe('presence while Redis refuses to store', () => {
  const { start } = usePresenceProcesses();
  let room = 7_200_000;
  beforeEach(() => {
    room += 1;
  });

  /** Both processes have a member in the room. */
  async function startTwo(times = TIMES): Promise<[PresenceProcess, PresenceProcess]> {
    const [one, two] = [await start(times), await start(times)];
    await one.presence.enter(room, 3, 'phone');
    await two.presence.enter(room, 4, 'laptop');
    return [one, two];
  }

  it('goes on without memory: members enter, stay and leave', async () => {
    const [one, two] = await startTwo(SHORT);
    const { commands } = one.redis;
    await keepsToMemory(commands, 'noeviction', async () => {
      expect(await commands.set('one', 'more').catch(({ message }) => message)).match(/^OOM/);
      await two.presence.enter(room, 5, 'tablet');
      expect(await one.presence.list(room)).deep.equal([3, 4, 5]);
      await two.presence.leave(room, 5, 'tablet');
      expect(await one.presence.isPresent(room, 5)).equal(false);
      // Entries are renewed.
      await sleep(SHORT.lifetime + 200);
      expect(await one.presence.isPresent(room, 4)).equal(true);
      await two.presence.clear(room, 3);
      await eventually(() => expect(one.openRooms.takenOut).deep.equal([[room, 'phone']]));
    });
    expect([one.redis.down, two.redis.down]).deep.equal([false, false]);
  });

  it('is known as written before without replicas; nobody is reported gone once it stores again', async () => {
    const [one, two] = await startTwo({ ...SHORT, grace: 200 });
    const { commands } = one.redis;
    await commands.config('SET', 'min-replicas-to-write', '1');
    try {
      await two.presence.enter(room, 5, 'tablet');
      expect(publishedOf(two, 5), 'its own view').deep.equal([[room, 5, true]]);
      expect([two.redis.down, two.redis.refusal]).deep.equal([false, 'NOREPLICAS']);
      expect(await one.presence.isPresent(room, 4)).equal(true);
      await refreshed(one);
      // By now all entries have expired.
      await sleep(SHORT.lifetime);
    } finally {
      await commands.config('SET', 'min-replicas-to-write', '0');
    }
    await eventually(async () => expect(await one.presence.list(room)).deep.equal([3, 4, 5]));
    await refreshed(one);
    await refreshed(two);
    const gone = [...one.published, ...two.published].filter(([, , present]) => !present);
    expect(gone).deep.equal([]);
    expect(await commands.exists(redisKeys.presence(room))).equal(1);
  });
});
