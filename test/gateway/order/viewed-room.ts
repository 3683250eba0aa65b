import { pino } from 'pino';
import type { RoomMark, RoomView } from '../../../domain/kernel/live.js';
import { RoomViews } from '../../../gateway/order/room-views.js';

export const CHAT = 7;
export const MEMBER = 3;

/** The views of a member with a socket on this gateway, over a database with one room, or more. */
export function buildViews(alone = false, intervalMs = 0) {
  /** States sent to the member: `read` if they were read from the database. */
  const told: string[] = [];
  const reads: ((error?: Error) => void)[] = [];
  const headsAsked: number[][] = [];
  const connected = [MEMBER];
  const database: { mark: RoomMark; rooms: number } = { mark: { seq: 0, read: 0 }, rooms: 1 };
  const show = ({ seq, read }: RoomMark) => `${seq}/${read}`;
  /** Each message is of the other party. */
  const viewOf = ({ seq, read }: RoomMark) => ({ chatNo: CHAT, unReadCount: seq - read }) as RoomView;
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
      if (!memberNos.includes(MEMBER)) return [];
      return Array.from({ length: database.rooms }, (_, i) => ({
        ...headOf(database.mark),
        chatNo: CHAT + i,
      }));
    },
    isConnected: (memberNo) => connected.includes(memberNo),
    connected: () => connected,
    emit: () => told.push(`read ${show(database.mark)}`),
    shared: !alone,
    intervalMs,
    logger: pino({ level: 'silent' }),
  });
  return {
    ...{ views, told, reads, headsAsked, connected, database },
    offer: (mark: RoomMark) =>
      views.offer(MEMBER, viewOf(mark), mark, ({ unReadCount }) =>
        told.push(show({ ...mark, read: mark.seq - unReadCount })),
      ),
  };
}

const positionOf = ({ seq, read }: RoomMark) => ({ memberNo: MEMBER, seq, others: read });
export const headOf = (mark: RoomMark) => ({ chatNo: CHAT, seq: mark.seq, reads: [positionOf(mark)] });
