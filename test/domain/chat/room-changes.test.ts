import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { pino } from 'pino';
import type { ChatDeps } from '../../../domain/chat/chat-deps.js';
import { BOTH_SIDES } from '../../../domain/chat/room.model.js';
import { RoomChanges } from '../../../domain/chat/room-changes.js';
import { noLive, type RoomMark } from '../../../domain/kernel/live.js';
import { roomState } from '../../support/chat.js';
import { eventually, gate, nextTurn } from '../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../support/time.js';

/** A room that is not open in the process. */
const ELSEWHERE = 70_000;

/** A process that remembers number 1 of each room, of which the database holds number 2. */
function buildChanges(shared = true) {
  const sent: [chatNo: number, memberNo: number, mark: RoomMark][] = [];
  const database: { fault?: unknown; gate?: Promise<void>; asked: number; gets: number } = {
    asked: 0,
    gets: 0,
  };
  const errors: string[] = [];
  const read = async (chatNo: number, seq: number) => {
    database.gets += 1;
    if (database.fault) throw database.fault;
    return roomState({ chatNo, seq });
  };
  const deps = {
    shared,
    states: {
      get: (chatNo: number) => read(chatNo, 1),
      load: (chatNo: number) => read(chatNo, 2),
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
      connectionsIn: (chatNo) => (chatNo === ELSEWHERE ? 0 : 1),
      room: (memberNo, { chatNo }, mark) => void sent.push([chatNo, memberNo, mark]),
    } satisfies ChatDeps['live'],
    logger: pino({ level: 'error' }, { write: (line: string) => void errors.push(line) }),
  } as unknown as ChatDeps & { shared: boolean };
  return { sent, database, errors, changes: new RoomChanges(deps) };
}

describe('room events', () => {
  let changes: RoomChanges | undefined;
  afterEach(() => changes?.close());

  it('are sent from memory of rooms that are open here: gateways merge what other processes wrote', async () => {
    const built = buildChanges();
    changes = built.changes;
    built.changes.touch(7, BOTH_SIDES);
    await eventually(() => expect(built.sent).to.have.length(2));
    expect(built.sent).to.deep.equal([
      [7, 1, { seq: 1, read: 0 }],
      [7, 2, { seq: 1, read: 0 }],
    ]);
  });

  it('are read of rooms that are not, unless the process is alone: no pushes of them arrive', async () => {
    for (const [shared, seq] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const built = buildChanges(shared);
      changes = built.changes;
      built.changes.touch(ELSEWHERE, ['creator']);
      await eventually(() => expect(built.sent).to.deep.equal([[ELSEWHERE, 1, { seq, read: 0 }]]));
    }
  });

  it('tell which rooms have changed since a moment', () => {
    const built = buildChanges();
    changes = built.changes;
    built.changes.touch(7, []);
    built.changes.touch(8, []);
    const since = performance.now();
    expect(built.changes.changedSince(0)).to.deep.equal([8, 7]);
    built.changes.touch(7, []);
    expect(built.changes.changedSince(since)).to.deep.equal([7]);
    expect(built.changes.changedSince(performance.now() + 1)).to.deep.equal([]);
  });

  it('are sent again from a moment on, in case pushes have been lost since', async () => {
    const built = buildChanges();
    changes = built.changes;
    built.changes.touch(7, BOTH_SIDES);
    await eventually(() => expect(built.sent).to.have.length(2));
    const since = performance.now();
    built.changes.touch(8, ['creator']);
    await eventually(() => expect(built.sent).to.have.length(3));
    built.sent.length = 0;
    await built.changes.resendSince(since);
    expect(built.sent.map(([chatNo, memberNo]) => [chatNo, memberNo])).to.deep.equal([
      [8, 1],
      [8, 2],
    ]);
  });

  describe('over time', () => {
    let time: FakeTime;
    beforeEach(() => {
      time = fakeTime();
    });
    afterEach(() => time.restore());

    /** A process, and the events it has sent since the last `takeSent`. */
    function build(shared = true) {
      const built = buildChanges(shared);
      changes = built.changes;
      return {
        ...built,
        takeSent: () => built.sent.splice(0).map(([chatNo, memberNo]) => [chatNo, memberNo]),
      };
    }

    const BOTH_SENT = [
      [7, 1],
      [7, 2],
    ];

    it('are sent at once, then at most every 250 ms, and the latest within 500 ms of the last event', async () => {
      const { changes, takeSent } = build();
      changes.touch(7, BOTH_SIDES);
      await time.pass(0);
      expect(takeSent(), 'the first, at once').to.deep.equal(BOTH_SENT);
      for (let at = 0; at < 240; at += 40) {
        changes.touch(7, BOTH_SIDES);
        await time.pass(40);
      }
      expect(takeSent(), 'within 250 ms').to.deep.equal([]);
      await time.pass(10);
      changes.touch(7, BOTH_SIDES);
      await time.pass(0);
      expect(takeSent(), 'the next change after 250 ms takes them along').to.deep.equal(BOTH_SENT);
      await time.pass(249);
      changes.touch(7, BOTH_SIDES);
      await time.pass(240);
      expect(takeSent(), 'waits for another change').to.deep.equal([]);
      await time.pass(11);
      expect(takeSent(), 'the latest, without another change').to.deep.equal(BOTH_SENT);
      await time.pass(5_000);
      expect(takeSent(), 'each once').to.deep.equal([]);
      expect(time.pending, 'timers of a quiet room').to.equal(0);
    });

    it('keep that pace for a room that changes all the time', async () => {
      const { changes, takeSent } = build();
      const counts: number[] = [];
      for (let second = 0; second < 3; second += 1) {
        for (let at = 0; at < 1_000; at += 50) {
          changes.touch(7, ['creator']);
          await time.pass(50);
        }
        counts.push(takeSent().length);
      }
      expect(counts).to.deep.equal([4, 4, 4]);
    });

    it('keep that pace after a delayed event', async () => {
      const { changes, takeSent } = build();
      changes.touch(7, ['creator']);
      changes.touch(7, ['creator']);
      await time.pass(500);
      expect(takeSent()).to.have.length(2);
      changes.touch(7, ['creator']);
      await time.pass(249);
      expect(takeSent(), '250 ms also after a delayed event').to.deep.equal([]);
      await time.pass(251);
      expect(takeSent()).to.have.length(1);
    });

    it('are timed separately for each side and each room', async () => {
      const { changes, takeSent } = build();
      changes.touch(7, ['creator']);
      changes.touch(7, ['joiner']);
      changes.touch(8, ['creator']);
      await time.pass(0);
      expect(takeSent()).to.deep.equal([
        [7, 1],
        [7, 2],
        [8, 1],
      ]);
      changes.touch(7, BOTH_SIDES);
      await time.pass(300);
      changes.touch(7, ['joiner']);
      await time.pass(0);
      expect(takeSent()).to.deep.equal([[7, 2]]);
      await time.pass(200);
      expect(takeSent()).to.deep.equal([[7, 1]]);
    });

    it('need one timer for all rooms, and those that end within 25 ms end together', async () => {
      const { changes, takeSent } = build();
      for (let chatNo = 1; chatNo <= 100; chatNo += 1) changes.touch(chatNo, BOTH_SIDES);
      await time.pass(20);
      changes.touch(101, ['joiner']);
      for (let chatNo = 1; chatNo <= 101; chatNo += 1) changes.touch(chatNo, BOTH_SIDES);
      await time.pass(0);
      expect([takeSent().length, time.pending]).to.deep.equal([202, 1]);
      await time.pass(480);
      // All but the one side that nothing has changed for since.
      expect([takeSent().length, time.pending]).to.deep.equal([201, 1]);
    });

    it('are tried again every second until the database answers', async () => {
      const { changes, takeSent, database, errors } = build();
      database.fault = new MongoNetworkTimeoutError('the database is away');
      changes.touch(7, BOTH_SIDES);
      await time.pass(5_500);
      expect(takeSent()).to.deep.equal([]);
      expect(database.gets).to.be.within(5, 7);
      delete database.fault;
      await time.pass(1_000);
      expect(takeSent()).to.deep.equal(BOTH_SENT);
      await time.pass(5_000);
      expect([takeSent(), time.pending, errors]).to.deep.equal([[], 0, []]);
    });

    it('that cannot be sent at all are logged as an error, once', async () => {
      const { changes, takeSent, database, errors } = build();
      database.fault = new Error('a broken record');
      changes.touch(7, BOTH_SIDES);
      await time.pass(5_000);
      delete database.fault;
      await time.pass(5_000);
      expect(takeSent()).to.deep.equal([]);
      expect(errors).to.have.length(1);
      expect(JSON.parse(errors[0] as string)).to.include({ chatNo: 7 });
    });

    it('that wait leave before the process stops, which members on others would miss', async () => {
      const { changes, database, takeSent } = build();
      changes.touch(7, BOTH_SIDES);
      await time.pass(0);
      const { open, opened } = gate();
      database.gate = opened;
      changes.touch(7, ['joiner']);
      const closed = changes.close();
      await time.pass(249);
      expect(takeSent()).to.deep.equal(BOTH_SENT);
      await time.pass(1);
      open();
      await closed;
      expect(takeSent()).to.deep.equal([[7, 2]]);
      expect(time.pending).to.equal(0);
    });

    it('of a single process, whose sockets are closed, stop with it', async () => {
      const { changes, takeSent } = build(false);
      changes.touch(7, BOTH_SIDES);
      changes.touch(7, BOTH_SIDES);
      await time.pass(0);
      takeSent();
      await changes.close();
      expect(time.pending).to.equal(0);
      changes.touch(8, BOTH_SIDES);
      await time.pass(5_000);
      expect([takeSent(), time.pending]).to.deep.equal([[], 0]);
    });
  });

  it('are not remembered by a process that is alone: nothing of it can be lost', async () => {
    const { sent, changes } = buildChanges(false);
    changes.touch(7, []);
    await changes.resendSince(0);
    expect(sent).to.deep.equal([]);
  });

  it('are sent again for the last 50,000 rooms at most, hundreds at a time, and for none after close', async () => {
    const { sent, database, changes } = buildChanges();
    const { open, opened } = gate();
    database.gate = opened;
    for (let chatNo = 1; chatNo <= 50_001; chatNo += 1) changes.touch(chatNo, []);
    const again = changes.resendSince(0);
    await nextTurn();
    expect(database.asked).to.be.within(100, 1_000);
    open();
    await again;
    expect(sent).to.have.length(2 * 50_000);
    expect(
      sent.some(([chatNo]) => chatNo === 1),
      'the room that changed first',
    ).to.equal(false);
    sent.length = 0;
    await changes.resendSince(0, () => sent.length > 0);
    expect(sent, 'until it is over').to.have.length.within(1, 2_000);
    sent.length = 0;
    await changes.close();
    await changes.resendSince(0);
    expect(sent).to.deep.equal([]);
  });
});
