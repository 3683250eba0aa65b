import { expect } from 'chai';
import { pino } from 'pino';
import type { RoomMark, RoomView } from '../../domain/kernel/live.js';
import { createRoomNews } from '../../gateway/room-news.js';

const CHAT = 7;
const MEMBER = 3;

/** The news of a member with a socket here, and the room in a database of the test's own. */
function buildNews(alone = false) {
  const told: string[] = [];
  const reads: ((error?: Error) => void)[] = [];
  const database: { mark: RoomMark } = { mark: { seq: 0, read: 0 } };
  const show = ({ seq, read }: RoomMark) => `${seq}/${read}`;
  const news = createRoomNews(
    {
      read: () =>
        new Promise((resolve, reject) => {
          const { mark } = database;
          reads.push((error) =>
            error ? reject(error) : resolve({ view: { regDate: mark.seq } as RoomView, mark }),
          );
        }),
      headsOf: async () => [{ chatNo: CHAT, seq: database.mark.seq, reads: [positionOf(database.mark)] }],
      isConnected: (memberNo) => memberNo === MEMBER,
      connected: () => [MEMBER],
      emit: () => told.push(`read ${show(database.mark)}`),
    },
    alone,
    pino({ level: 'silent' }),
  );
  return {
    news,
    told,
    reads,
    database,
    offer: (mark: RoomMark) => news.offer(MEMBER, CHAT, mark, () => told.push(show(mark))),
  };
}

const positionOf = ({ seq, read }: RoomMark) => ({ memberNo: MEMBER, seq, others: read });
const headOf = (mark: RoomMark) => ({ chatNo: CHAT, seq: mark.seq, reads: [positionOf(mark)] });
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the states of rooms that members are told', () => {
  it('pass as they come where each is newer, and are dropped where they repeat or are older', () => {
    const { news, told, offer } = buildNews();
    news.follow(headOf({ seq: 1, read: 0 }));
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
    const { news, told, offer } = buildNews();
    news.follow(headOf({ seq: 2, read: 0 }));
    offer({ seq: 1, read: 0 });
    offer({ seq: 2, read: 0 });
    offer({ seq: 2, read: 0 });
    expect(told).to.deep.equal(['2/0']);
  });

  it('are read from the database where two processes each knew half, and again where one comes meanwhile', async () => {
    const { news, told, reads, database, offer } = buildNews();
    news.follow(headOf({ seq: 1, read: 0 }));
    offer({ seq: 2, read: 0 });
    database.mark = { seq: 2, read: 1 };
    offer({ seq: 1, read: 1 });
    await turn();
    database.mark = { seq: 3, read: 2 };
    offer({ seq: 3, read: 2 });
    reads[0]?.();
    await turn();
    reads[1]?.();
    await turn();
    expect(reads).to.have.length(2);
    expect(told.at(-1)).to.equal('read 3/2');
    expect(told[0]).to.equal('2/0');
  });

  it('are read again when the database did not answer', async () => {
    const { news, told, reads, database } = buildNews();
    news.follow(headOf({ seq: 1, read: 0 }));
    database.mark = { seq: 2, read: 0 };
    news.compare(headOf(database.mark));
    await turn();
    reads[0]?.(new Error('the database is away'));
    while (reads.length < 2) await turn();
    reads[1]?.();
    await turn();
    expect(told).to.deep.equal(['read 2/0']);
  });

  it('are compared with the database: at first those the member was told, after an outage all', async () => {
    const { news, told, reads, database } = buildNews();
    database.mark = { seq: 2, read: 0 };
    news.compare(headOf(database.mark));
    await turn();
    expect(reads, 'what they know is not known here').to.have.length(0);
    const all = news.compareAll();
    await turn();
    reads[0]?.();
    await all;
    await news.compareAll();
    expect(told).to.deep.equal(['read 2/0']);
  });

  it('are forgotten with the last socket, and told at once by a process that is alone', () => {
    const { news, told, reads, offer } = buildNews(true);
    offer({ seq: 1, read: 0 });
    news.forget(MEMBER);
    offer({ seq: 1, read: 0 });
    expect(told).to.deep.equal(['1/0', '1/0']);
    expect(reads).to.have.length(0);
  });
});
