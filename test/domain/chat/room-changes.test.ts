import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { pino } from 'pino';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import { BOTH, createRoomChanges, type RoomChanges } from '../../../domain/chat/rooms/room-changes.js';
import type { RoomState } from '../../../domain/chat/rooms/room-states.js';
import { noLive, type RoomMark } from '../../../domain/kernel/live.js';
import { eventually } from '../../support/eventually.js';

const stateOf = (chatNo: number, seq: number): RoomState => ({
  ...{ chatNo, saleNo: 1, creator: 1, joiner: 2, createdAt: new Date(0), seq },
  sent: { creator: seq, joiner: 0 },
  read: { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } },
});

/** Room changes of a process that remembers number 1 of each room, while the database has number 2. */
function buildChanges(isCurrent: boolean) {
  const told: [chatNo: number, memberNo: number, mark: RoomMark][] = [];
  const database = { isAway: false };
  const deps = {
    states: {
      get: async (chatNo: number) => stateOf(chatNo, 1),
      load: async (chatNo: number) => {
        if (database.isAway) throw new MongoNetworkTimeoutError('the database is away');
        return stateOf(chatNo, 2);
      },
    },
    directory: { lookUp: async () => new Map() },
    adoption: { findPost: async () => undefined },
    live: {
      ...noLive,
      room: (memberNo, { chatNo }, mark) => void told.push([chatNo, memberNo, mark]),
    } satisfies ChatDeps['live'],
    logger: pino({ level: 'silent' }),
  } as unknown as ChatDeps;
  return { told, database, changes: createRoomChanges(deps, () => isCurrent) };
}

describe('changes of rooms', () => {
  let changes: RoomChanges | undefined;
  afterEach(() => changes?.close());

  it('are told from memory where this process hears everything of the room, else from the database', async () => {
    for (const [isCurrent, seq] of [
      [true, 1],
      [false, 2],
    ] as const) {
      const built = buildChanges(isCurrent);
      built.changes.touch(7, BOTH);
      await eventually(() => expect(built.told).to.have.length(2));
      built.changes.close();
      expect(built.told).to.deep.equal([
        [7, 1, { seq, read: 0 }],
        [7, 2, { seq, read: 0 }],
      ]);
    }
  });

  it('that could not be told are told once the database answers', async () => {
    const built = buildChanges(false);
    changes = built.changes;
    built.database.isAway = true;
    built.changes.touch(7, BOTH);
    await new Promise((resolve) => setImmediate(resolve));
    expect(built.told).to.deep.equal([]);
    built.database.isAway = false;
    await eventually(() => expect(built.told.map(([, memberNo]) => memberNo)).to.deep.equal([1, 2]));
  });

  it('are told again from a moment on: pushes to other processes may have been lost since', async () => {
    const built = buildChanges(true);
    changes = built.changes;
    built.changes.touch(7, BOTH);
    await eventually(() => expect(built.told).to.have.length(2));
    const since = performance.now();
    built.changes.touch(8, ['creator']);
    await eventually(() => expect(built.told).to.have.length(3));
    built.told.length = 0;
    await built.changes.tellAgain(since);
    expect(built.told.map(([chatNo, memberNo]) => [chatNo, memberNo])).to.deep.equal([
      [8, 1],
      [8, 2],
    ]);
  });
});
