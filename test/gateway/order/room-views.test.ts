import { mock } from 'node:test';
import { expect } from 'chai';
import { AppError } from '../../../domain/kernel/errors.js';
import type { RoomView } from '../../../domain/kernel/live.js';
import { nextTurn } from '../../support/eventually.js';
import { buildViews, CHAT, headOf, MEMBER } from './viewed-room.js';

describe('a gateway’s room views', () => {
  it('deliver newer states of a room, and drop repeated and older ones', () => {
    const { views, told, offer } = buildViews();
    views.follow(headOf({ seq: 1, read: 0 }));
    for (const [seq, read] of [
      [2, 0],
      [2, 0],
      [1, 0],
      [2, 1],
      [3, 1],
      [2, 1],
    ] as const) {
      offer({ seq, read });
    }
    expect(told).to.deep.equal(['2/0', '2/1', '3/1']);
  });

  it('are read when all are compared, also of rooms that somebody has entered since what the member was sent', async () => {
    const { views, told, reads, database } = buildViews();
    database.mark = { seq: 6, read: 5 };
    views.follow(headOf(database.mark));
    const compared = views.compareAll();
    await nextTurn();
    reads[0]?.();
    await compared;
    expect(told).to.deep.equal(['read 6/5']);
    await views.compareAll();
    expect(reads).to.have.length(1);
  });

  it('add what was read to a state with more messages whose sender did not know it, and read nothing', () => {
    const { views, told, reads, offer } = buildViews();
    views.follow(headOf({ seq: 2, read: 0 }));
    offer({ seq: 2, read: 2 });
    offer({ seq: 3, read: 0 });
    offer({ seq: 3, read: 1 });
    offer({ seq: 4, read: 3 });
    expect(told).to.deep.equal(['2/2', '3/2', '4/3']);
    expect(reads).to.deep.equal([]);
  });

  it('deliver once the state at the join: its event may be under way', () => {
    const { views, told, offer } = buildViews();
    views.follow(headOf({ seq: 2, read: 0 }));
    offer({ seq: 1, read: 0 });
    offer({ seq: 2, read: 0 });
    offer({ seq: 2, read: 0 });
    expect(told).to.deep.equal(['2/0']);
  });

  it('read the state where two processes each know half of it, and again when a newer one arrives meanwhile', async () => {
    const { views, told, reads, database, offer } = buildViews();
    views.follow(headOf({ seq: 1, read: 0 }));
    offer({ seq: 2, read: 0 });
    database.mark = { seq: 2, read: 1 };
    offer({ seq: 1, read: 1 });
    await nextTurn();
    database.mark = { seq: 3, read: 2 };
    offer({ seq: 3, read: 2 });
    reads[0]?.();
    await nextTurn();
    reads[1]?.();
    await nextTurn();
    expect(reads).to.have.length(2);
    expect(told.at(-1)).to.equal('read 3/2');
    expect(told[0]).to.equal('2/0');
  });

  it('read a state that is only announced, and deliver it if it is newer', async () => {
    const { views, told, reads, database, offer } = buildViews();
    views.follow(headOf({ seq: 1, read: 0 }));
    offer({ seq: 2, read: 0 });
    database.mark = { seq: 2, read: 0 };
    views.check(MEMBER, CHAT);
    reads[0]?.();
    await nextTurn();
    expect(told).to.deep.equal(['2/0']);
    database.mark = { seq: 3, read: 0 };
    views.check(MEMBER, CHAT);
    reads[1]?.();
    await nextTurn();
    expect(told).to.deep.equal(['2/0', 'read 3/0']);
    views.check(MEMBER + 1, CHAT);
    expect(reads, 'for nobody who is not here').to.have.length(2);
  });

  it('read no more than a hundred rooms at a time that are only announced, as a forger may', async () => {
    const { views, reads } = buildViews();
    const checks = Array.from({ length: 150 }, (_, i) => views.check(MEMBER, CHAT + i));
    expect(reads).to.have.length(100);
    expect(checks.filter((isRead) => !isRead)).to.have.length(50);
    reads[0]?.(new AppError('CHAT_ROOM_NOT_FOUND'));
    await nextTurn();
    expect([views.check(MEMBER, CHAT + 120), views.check(MEMBER, CHAT + 121)]).to.deep.equal([true, false]);
    expect(views.check(MEMBER + 1, CHAT), 'of nobody who is not here').to.equal(true);
    expect(reads).to.have.length(101);
  });

  it('deliver once the state at the join when it is only announced', async () => {
    const { views, told, reads, database } = buildViews();
    database.mark = { seq: 2, read: 0 };
    views.follow(headOf(database.mark));
    for (const at of [0, 1]) {
      views.check(MEMBER, CHAT);
      reads[at]?.();
      await nextTurn();
    }
    expect(told).to.deep.equal(['read 2/0']);
  });

  it('forget a room that is announced and does not exist', async () => {
    const { views, reads, database } = buildViews();
    views.check(MEMBER, CHAT);
    reads[0]?.(new AppError('CHAT_ROOM_NOT_FOUND', 'no such room'));
    await nextTurn();
    database.mark = { seq: 1, read: 0 };
    views.compare(headOf(database.mark));
    await nextTurn();
    expect(reads).to.have.length(1);
  });

  describe('after a failed read', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    const cases: [cause: string, error: Error, readAgain: boolean][] = [
      ['the database does not answer', new Error('the database is away'), true],
      ['the service is not ready', new AppError('SERVICE_UNAVAILABLE', 'the database is away'), true],
      ['the room does not exist', new AppError('CHAT_ROOM_NOT_FOUND', 'no such room'), false],
    ];
    for (const [cause, error, readAgain] of cases) {
      it(`${readAgain ? 'repeat it a second later' : 'do not repeat it'} when ${cause}`, async () => {
        const { views, told, reads, database } = buildViews();
        views.follow(headOf({ seq: 1, read: 0 }));
        database.mark = { seq: 2, read: 0 };
        views.compare(headOf(database.mark));
        await nextTurn();
        reads[0]?.(error);
        await nextTurn();
        mock.timers.tick(999);
        expect(reads).to.have.length(1);
        mock.timers.tick(1);
        expect(reads).to.have.length(readAgain ? 2 : 1);
        reads[1]?.();
        await nextTurn();
        expect(told).to.deep.equal(readAgain ? ['read 2/0'] : []);
        mock.timers.tick(60_000);
        views.compare(headOf(database.mark));
        await nextTurn();
        expect(reads, 'reads by the comparison').to.have.length(2);
      });
    }

    it('do not repeat it for a member who has left', async () => {
      const { views, reads, offer } = buildViews();
      offer({ seq: 1, read: 0 });
      reads[0]?.(new Error('the database is away'));
      await nextTurn();
      views.forget(MEMBER);
      mock.timers.tick(60_000);
      await nextTurn();
      expect(reads).to.have.length(1);
    });
  });

  it('send nothing to a member who leaves during a read', async () => {
    const { views, told, reads, database, offer } = buildViews();
    database.mark = { seq: 1, read: 0 };
    offer({ seq: 1, read: 0 });
    views.forget(MEMBER);
    reads[0]?.();
    await nextTurn();
    expect(told).to.deep.equal([]);
  });

  it('read the state when it is unknown what the member was sent: other processes may have sent more', async () => {
    const { told, reads, database, offer } = buildViews();
    database.mark = { seq: 2, read: 0 };
    offer({ seq: 1, read: 0 });
    expect(told).to.deep.equal([]);
    offer({ seq: 2, read: 0 });
    expect(reads, 'one read at a time').to.have.length(1);
    reads[0]?.();
    await nextTurn();
    reads[1]?.();
    await nextTurn();
    expect(told, 'once').to.deep.equal(['read 2/0']);
    offer({ seq: 2, read: 0 });
    offer({ seq: 3, read: 0 });
    expect(told).to.deep.equal(['read 2/0', '3/0']);
    expect(reads).to.have.length(2);
  });

  it('compare states by what a member has read, too, starting from the join', async () => {
    const { views, told, reads, offer } = buildViews();
    views.follow(headOf({ seq: 3, read: 2 }));
    offer({ seq: 2, read: 2 });
    offer({ seq: 3, read: 1 });
    views.compare(headOf({ seq: 3, read: 2 }));
    await nextTurn();
    expect([told, reads]).to.deep.equal([[], []]);
    offer({ seq: 3, read: 3 });
    expect(told).to.deep.equal(['3/3']);
  });

  it('hold what comes before the interval is over, deliver the latest of it then, and drop it with the last socket', () => {
    const { views, told, offer } = buildViews(false, 60_000);
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      views.follow(headOf({ seq: 1, read: 0 }));
      for (const seq of [2, 3, 4]) offer({ seq, read: 0 });
      // What the first one took is a part of the interval.
      mock.timers.tick(50_000);
      expect(told).to.deep.equal(['2/0']);
      mock.timers.tick(10_000);
      expect(told).to.deep.equal(['2/0', '4/0']);
      offer({ seq: 5, read: 0 });
      views.forget(MEMBER);
      mock.timers.tick(60_000);
      expect(told).to.deep.equal(['2/0', '4/0']);
    } finally {
      mock.timers.reset();
    }
  });

  it('keep the state that a member was sent, not that of a later join', () => {
    const { views, told, offer } = buildViews();
    views.follow(headOf({ seq: 1, read: 0 }));
    offer({ seq: 2, read: 0 });
    views.follow(headOf({ seq: 5, read: 0 }));
    offer({ seq: 3, read: 0 });
    expect(told).to.deep.equal(['2/0', '3/0']);
  });

  it('ignore members without a socket on this gateway', async () => {
    const { views, told, reads, headsAsked } = buildViews();
    const other = MEMBER + 1;
    views.offer(other, { chatNo: CHAT } as RoomView, { seq: 1, read: 0 }, () => told.push('to nobody'));
    views.follow({ chatNo: CHAT, seq: 1, reads: [{ memberNo: other, seq: 0, others: 0 }] });
    views.compare({ chatNo: CHAT, seq: 2, reads: [{ memberNo: other, seq: 0, others: 0 }] });
    await nextTurn();
    expect([told, reads, headsAsked]).to.deep.equal([[], [], []]);
  });

  it('compare a hundred members at a time, each batch after the reads of the one before', async () => {
    const { views, told, reads, database, connected, headsAsked } = buildViews();
    connected.push(...Array.from({ length: 100 }, (_, i) => 100 + i));
    database.mark = { seq: 1, read: 0 };
    const all = views.compareAll();
    await nextTurn();
    expect(headsAsked).to.have.length(1);
    reads[0]?.();
    await all;
    expect(told).to.deep.equal(['read 1/0']);
    expect(headsAsked.map(({ length }) => length)).to.deep.equal([100, 1]);
    expect(headsAsked.flat()).to.deep.equal(connected);
  });

  it('read a hundred rooms at a time of those that an outage leaves unknown', async () => {
    const { views, reads, database } = buildViews();
    Object.assign(database, { mark: { seq: 1, read: 0 }, rooms: 250 });
    const all = views.compareAll();
    for (const most of [100, 100, 50]) {
      await nextTurn(3);
      expect(reads).to.have.length(most);
      for (const end of reads.splice(0)) end();
    }
    await all;
  });

  it('compare known states with the database, and all of them after an outage', async () => {
    const { views, told, reads, database } = buildViews();
    database.mark = { seq: 2, read: 0 };
    views.compare(headOf(database.mark));
    await nextTurn();
    expect(reads, 'what the member was sent is unknown').to.have.length(0);
    const all = views.compareAll();
    await nextTurn();
    reads[0]?.();
    await all;
    await views.compareAll();
    expect(told).to.deep.equal(['read 2/0']);
  });

  it('forget states with the last socket, and deliver all at once if the process is the only one', () => {
    const { views, told, reads, offer } = buildViews(true);
    offer({ seq: 1, read: 0 });
    views.forget(MEMBER);
    offer({ seq: 1, read: 0 });
    expect(told).to.deep.equal(['1/0', '1/0']);
    expect(reads).to.have.length(0);
  });
});
