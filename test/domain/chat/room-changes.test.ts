import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { pino } from 'pino';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import { BOTH, createRoomChanges, type RoomChanges } from '../../../domain/chat/room-changes.js';
import type { RoomState } from '../../../domain/chat/room-states.js';
import { noLive, type RoomMark } from '../../../domain/kernel/live.js';
import { eventually } from '../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

const stateOf = (chatNo: number, seq: number): RoomState => ({
  ...{ chatNo, saleNo: 1, creator: 1, joiner: 2, createdAt: new Date(0), seq },
  sent: { creator: seq, joiner: 0 },
  read: { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } },
});

/** Room changes of a process that remembers number 1 of each room, while the database has number 2. */
function buildChanges(isCurrent: boolean) {
  const told: [chatNo: number, memberNo: number, mark: RoomMark][] = [];
  const database: { fault?: unknown; gate?: Promise<void>; asked: number; loads: number } = {
    ...{ asked: 0, loads: 0 },
  };
  const errors: string[] = [];
  const deps = {
    states: {
      get: async (chatNo: number) => stateOf(chatNo, 1),
      load: async (chatNo: number) => {
        database.loads += 1;
        if (database.fault) throw database.fault;
        return stateOf(chatNo, 2);
      },
    },
    directory: { lookUp: async () => new Map() },
    adoption: {
      findPost: async () => {
        database.asked += 1;
        await database.gate;
      },
    },
    live: {
      ...noLive,
      room: (memberNo, { chatNo }, mark) => void told.push([chatNo, memberNo, mark]),
    } satisfies ChatDeps['live'],
    logger: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
  } as unknown as ChatDeps;
  return { told, database, errors, changes: createRoomChanges(deps, () => isCurrent) };
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

  describe('in time', () => {
    let time: FakeTime;
    beforeEach(() => {
      time = fakeTime();
    });
    afterEach(() => {
      changes?.close();
      time.restore();
    });

    /** Changes of a process that is alone, and who was told since this was asked last. */
    function build(isCurrent = true) {
      const built = buildChanges(isCurrent);
      changes = built.changes;
      return {
        ...built,
        takeTold: () => built.told.splice(0).map(([chatNo, memberNo]) => [chatNo, memberNo]),
      };
    }

    const BOTH_TOLD = [
      [7, 1],
      [7, 2],
    ];

    it('are told at once, then at most every 250 ms, and the latest within 500 ms of the last event', async () => {
      const { changes, takeTold } = build();
      changes.touch(7, BOTH);
      await time.pass(0);
      expect(takeTold(), 'the first, at once').to.deep.equal(BOTH_TOLD);
      for (let at = 0; at < 240; at += 40) {
        changes.touch(7, BOTH);
        await time.pass(40);
      }
      expect(takeTold(), 'within 250 ms').to.deep.equal([]);
      await time.pass(10);
      changes.touch(7, BOTH);
      await time.pass(0);
      expect(takeTold(), 'the next behind 250 ms takes them along').to.deep.equal(BOTH_TOLD);
      await time.pass(249);
      changes.touch(7, BOTH);
      await time.pass(240);
      expect(takeTold(), 'waits for one to go with').to.deep.equal([]);
      await time.pass(11);
      expect(takeTold(), 'the latest, without another').to.deep.equal(BOTH_TOLD);
      await time.pass(5_000);
      expect(takeTold(), 'each once').to.deep.equal([]);
      expect(time.pending, 'timers of a quiet room').to.equal(0);
    });

    it('go on being told at that pace by a room that never rests', async () => {
      const { changes, takeTold } = build();
      const counts: number[] = [];
      for (let second = 0; second < 3; second += 1) {
        for (let at = 0; at < 1_000; at += 50) {
          changes.touch(7, ['creator']);
          await time.pass(50);
        }
        counts.push(takeTold().length);
      }
      expect(counts).to.deep.equal([4, 4, 4]);
    });

    it('wait for another time where the latest was told behind its wait', async () => {
      const { changes, takeTold } = build();
      changes.touch(7, ['creator']);
      changes.touch(7, ['creator']);
      await time.pass(500);
      expect(takeTold()).to.have.length(2);
      changes.touch(7, ['creator']);
      await time.pass(249);
      expect(takeTold(), 'the pace holds behind the latest, too').to.deep.equal([]);
      await time.pass(251);
      expect(takeTold()).to.have.length(1);
    });

    it('of each side and of each room keep a pace of their own', async () => {
      const { changes, takeTold } = build();
      changes.touch(7, ['creator']);
      changes.touch(7, ['joiner']);
      changes.touch(8, ['creator']);
      await time.pass(0);
      expect(takeTold()).to.deep.equal([
        [7, 1],
        [7, 2],
        [8, 1],
      ]);
      changes.touch(7, BOTH);
      await time.pass(300);
      changes.touch(7, ['joiner']);
      await time.pass(0);
      expect(takeTold()).to.deep.equal([[7, 2]]);
      await time.pass(200);
      expect(takeTold()).to.deep.equal([[7, 1]]);
    });

    it('that could not be told are told once the database answers, each look a second later', async () => {
      const { changes, takeTold, database, errors } = build(false);
      database.fault = new MongoNetworkTimeoutError('the database is away');
      changes.touch(7, BOTH);
      await time.pass(5_500);
      expect(takeTold()).to.deep.equal([]);
      expect(database.loads).to.be.within(5, 7);
      delete database.fault;
      await time.pass(1_000);
      expect(takeTold()).to.deep.equal(BOTH_TOLD);
      await time.pass(5_000);
      expect([takeTold(), time.pending, errors]).to.deep.equal([[], 0, []]);
    });

    it('that cannot be told at all are logged as an error, once', async () => {
      const { changes, takeTold, database, errors } = build(false);
      database.fault = new Error('a broken record');
      changes.touch(7, BOTH);
      await time.pass(5_000);
      delete database.fault;
      await time.pass(5_000);
      expect(takeTold()).to.deep.equal([]);
      expect(errors).to.have.length(1);
      expect(JSON.parse(errors[0] as string)).to.include({ chatNo: 7 });
    });

    it('end with the process', async () => {
      const { changes, takeTold } = build();
      changes.touch(7, BOTH);
      changes.touch(7, BOTH);
      await time.pass(0);
      takeTold();
      changes.close();
      expect(time.pending).to.equal(0);
      changes.touch(8, BOTH);
      await time.pass(5_000);
      expect([takeTold(), time.pending]).to.deep.equal([[], 0]);
    });
  });

  it('are told again of the last 50,000 rooms at most, hundreds at a time, and of none once it ends', async () => {
    const { told, database, changes } = buildChanges(true);
    let open = () => {};
    database.gate = new Promise((resolve) => {
      open = resolve;
    });
    for (let chatNo = 1; chatNo <= 50_001; chatNo += 1) changes.touch(chatNo, []);
    const again = changes.tellAgain(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(database.asked).to.be.within(100, 1_000);
    open();
    await again;
    expect(told).to.have.length(2 * 50_000);
    expect(
      told.some(([chatNo]) => chatNo === 1),
      'the one that was touched first',
    ).to.equal(false);
    told.length = 0;
    changes.close();
    await changes.tellAgain(0);
    expect(told).to.deep.equal([]);
  });
});
