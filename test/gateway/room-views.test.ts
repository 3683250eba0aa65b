import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import { AppError } from '../../domain/kernel/errors.js';
import type { RoomMark, RoomView } from '../../domain/kernel/live.js';
import { RoomViews } from '../../gateway/room-views.js';
import { nextTurn } from '../support/eventually.js';

const CHAT = 7;
const MEMBER = 3;

/** The views of a member with a socket here, and the room in a database of the test's own. */
function buildNews(alone = false) {
  const told: string[] = [];
  const reads: ((error?: Error) => void)[] = [];
  const headsAsked: number[][] = [];
  const connected = [MEMBER];
  const database: { mark: RoomMark } = { mark: { seq: 0, read: 0 } };
  const show = ({ seq, read }: RoomMark) => `${seq}/${read}`;
  const views = new RoomViews({
    read: () =>
      new Promise((resolve, reject) => {
        const { mark } = database;
        reads.push((error) =>
          error ? reject(error) : resolve({ view: { regDate: mark.seq } as RoomView, mark }),
        );
      }),
    async headsOf(memberNos) {
      headsAsked.push(memberNos);
      return memberNos.includes(MEMBER) ? [headOf(database.mark)] : [];
    },
    isConnected: (memberNo) => connected.includes(memberNo),
    connected: () => connected,
    emit: () => told.push(`read ${show(database.mark)}`),
    shared: !alone,
    logger: pino({ level: 'silent' }),
  });
  return {
    ...{ views, told, reads, headsAsked, connected, database },
    offer: (mark: RoomMark) => views.offer(MEMBER, CHAT, mark, () => told.push(show(mark))),
  };
}

const positionOf = ({ seq, read }: RoomMark) => ({ memberNo: MEMBER, seq, others: read });
const headOf = (mark: RoomMark) => ({ chatNo: CHAT, seq: mark.seq, reads: [positionOf(mark)] });

describe('the states of rooms that members are told', () => {
  it('pass as they come where each is newer, and are dropped where they repeat or are older', () => {
    const { views, told, offer } = buildNews();
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

  it('pass where they are what the member came in with: that may have been on its way', () => {
    const { views, told, offer } = buildNews();
    views.follow(headOf({ seq: 2, read: 0 }));
    offer({ seq: 1, read: 0 });
    offer({ seq: 2, read: 0 });
    offer({ seq: 2, read: 0 });
    expect(told).to.deep.equal(['2/0']);
  });

  it('are read from the database where two processes each knew half, and again where one comes meanwhile', async () => {
    const { views, told, reads, database, offer } = buildNews();
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

  describe('that could not be read', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
    afterEach(() => mock.timers.reset());

    const cases: [what: string, error: Error, readAgain: boolean][] = [
      ['the database does not answer', new Error('the database is away'), true],
      ['the service is not ready', new AppError('SERVICE_UNAVAILABLE', 'the database is away'), true],
      ['there is no such room', new AppError('CHAT_ROOM_NOT_FOUND', 'no such room'), false],
    ];
    for (const [what, error, readAgain] of cases) {
      it(`because ${what}, are ${readAgain ? 'read again a second later' : 'left alone'}`, async () => {
        const { views, told, reads, database } = buildNews();
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
        expect(reads, 'where they are not known, the next look reads them').to.have.length(2);
      });
    }

    it('are not read again for a member who has gone', async () => {
      const { views, reads, offer } = buildNews();
      offer({ seq: 1, read: 0 });
      reads[0]?.(new Error('the database is away'));
      await nextTurn();
      views.forget(MEMBER);
      mock.timers.tick(60_000);
      await nextTurn();
      expect(reads).to.have.length(1);
    });
  });

  it('are told to nobody who has gone while they were read', async () => {
    const { views, told, reads, database, offer } = buildNews();
    database.mark = { seq: 1, read: 0 };
    offer({ seq: 1, read: 0 });
    views.forget(MEMBER);
    reads[0]?.();
    await nextTurn();
    expect(told).to.deep.equal([]);
  });

  it('are read where it is not known what the member was told: other processes may have told more', async () => {
    const { told, reads, database, offer } = buildNews();
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

  it('are told by what a member has read, too, from what they came in with', async () => {
    const { views, told, reads, offer } = buildNews();
    views.follow(headOf({ seq: 3, read: 2 }));
    offer({ seq: 2, read: 2 });
    offer({ seq: 3, read: 1 });
    views.compare(headOf({ seq: 3, read: 2 }));
    await nextTurn();
    expect([told, reads]).to.deep.equal([[], []]);
    offer({ seq: 3, read: 3 });
    expect(told).to.deep.equal(['3/3']);
  });

  it('are kept from what a member was told, not from what they came in with later', () => {
    const { views, told, offer } = buildNews();
    views.follow(headOf({ seq: 1, read: 0 }));
    offer({ seq: 2, read: 0 });
    views.follow(headOf({ seq: 5, read: 0 }));
    offer({ seq: 3, read: 0 });
    expect(told).to.deep.equal(['2/0', '3/0']);
  });

  it('are nothing to members without a socket here', async () => {
    const { views, told, reads, headsAsked } = buildNews();
    const other = MEMBER + 1;
    views.offer(other, CHAT, { seq: 1, read: 0 }, () => told.push('to nobody'));
    views.follow({ chatNo: CHAT, seq: 1, reads: [{ memberNo: other, seq: 0, others: 0 }] });
    views.compare({ chatNo: CHAT, seq: 2, reads: [{ memberNo: other, seq: 0, others: 0 }] });
    await nextTurn();
    expect([told, reads, headsAsked]).to.deep.equal([[], [], []]);
  });

  it('are compared a hundred members at a time, once those before them have been read', async () => {
    const { views, told, reads, database, connected, headsAsked } = buildNews();
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

  it('are compared with the database: at first those the member was told, after an outage all', async () => {
    const { views, told, reads, database } = buildNews();
    database.mark = { seq: 2, read: 0 };
    views.compare(headOf(database.mark));
    await nextTurn();
    expect(reads, 'what they know is not known here').to.have.length(0);
    const all = views.compareAll();
    await nextTurn();
    reads[0]?.();
    await all;
    await views.compareAll();
    expect(told).to.deep.equal(['read 2/0']);
  });

  it('are forgotten with the last socket, and told at once by a process that is alone', () => {
    const { views, told, reads, offer } = buildNews(true);
    offer({ seq: 1, read: 0 });
    views.forget(MEMBER);
    offer({ seq: 1, read: 0 });
    expect(told).to.deep.equal(['1/0', '1/0']);
    expect(reads).to.have.length(0);
  });
});
