import { expect } from 'chai';
import type { Presence } from '../../domain/chat/presence.js';
import { RedisPresence } from '../../domain/chat/presence.redis.js';
import type { RedisConnection } from '../../domain/platform/redis/connection.js';
import { eventually } from '../support/eventually.js';
import { FAULTS, FaultyProcess, type Strike } from '../support/fault-points.js';
import { createOpenRooms } from '../support/open-rooms.js';
import { hasRedisServer, openConnections, startRedis, type TestRedis } from '../support/redis.js';

const MEMBER = 3;

/** Short enough to be waited for, ms. */
const TIMES = { lifetime: 300, refreshEvery: 100, lookEvery: 120_000, grace: 0, latency: 0 };

/** What a member does, and whether they are present then. */
const ROWS: [what: string, act: (presence: Presence, room: number) => Promise<void>, isPresent: boolean][] = [
  ['enters', (presence, room) => presence.enter(room, MEMBER, 'socket'), true],
  [
    'enters and leaves',
    async (presence, room) => {
      await presence.enter(room, MEMBER, 'socket');
      await presence.leave(room, MEMBER, 'socket');
    },
    false,
  ],
  [
    'enters and disconnects by the documented call',
    async (presence, room) => {
      await presence.enter(room, MEMBER, 'socket');
      await presence.clear(room, MEMBER);
    },
    false,
  ],
];

describe('a member, whatever becomes of one of the commands to Redis,', () => {
  const connections = openConnections();
  let server: TestRedis;
  let own: RedisConnection;
  /** Of another process, which has a member of its own in each room. */
  let observer: RedisPresence;
  let room = 0;

  before(async function () {
    if (!hasRedisServer) this.skip();
    server = await startRedis();
    own = await connections.connect(server.url);
    observer = new RedisPresence(await connections.connect(server.url), createOpenRooms(), TIMES);
  });
  after(async () => {
    await observer?.close();
    await connections.close();
    await server?.stop();
  });

  /** @returns how many commands it made */
  async function runWith(row: (typeof ROWS)[number], strikes: Strike[] = []): Promise<number> {
    const [, act, isPresent] = row;
    room += 1;
    await observer.enter(room, MEMBER + 1, 'watching');
    const process = new FaultyProcess(strikes, () => observer.list(room));
    const presence = new RedisPresence(own, createOpenRooms(), TIMES);
    try {
      await process.run(() => act(presence, room));
      await process.quiet();
      const { length } = process.calls;
      expect(process.struck).to.equal(strikes.length);
      await process.carryOutLate();
      // A dead process does not withdraw its entries.
      if (process.isDead) await process.run(() => presence.close());
      await own.ping();
      const expected = isPresent && !process.isDead;
      await eventually(async () => expect((await observer.list(room)).includes(MEMBER)).to.equal(expected));
      return length;
    } finally {
      await presence.close();
      await observer.leave(room, MEMBER + 1, 'watching');
    }
  }

  for (const row of ROWS) {
    it(`who ${row[0]} is ${row[2] ? 'present while their process lives' : 'absent'}`, async () => {
      const commands = await runWith(row);
      expect(commands).to.be.above(0);
      for (let at = 0; at < commands; at += 1) {
        for (const fault of FAULTS) {
          try {
            await runWith(row, [{ at, fault }]);
          } catch (error) {
            throw new Error(`command ${at}, ${fault}: ${(error as Error).message}`, { cause: error });
          }
        }
      }
    });
  }
});
