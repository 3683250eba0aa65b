import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { RoomHead } from '../../../domain/kernel/live.js';
import { RoomComparer } from '../../../gateway/order/compare-rooms.js';
import { gate, nextTurn } from '../../support/eventually.js';
import { FakeReports } from '../../support/reports.js';

describe('the comparison of rooms with the database', () => {
  afterEach(() => mock.timers.reset());

  it('because of lost pushes waits for the one before it, and takes all rooms meanwhile together', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const asked: number[][] = [];
    const { opened, open } = gate();
    const comparer = new RoomComparer({
      async heads(chatNos): Promise<RoomHead[]> {
        asked.push(chatNos);
        await opened;
        return [];
      },
      sequencer: { rooms: () => [], has: () => false, compare: () => false },
      views: { compare() {}, async compareAll() {} },
      redis: undefined,
      reports: undefined,
      logger: pino({ level: 'silent' }),
    });
    for (const chatNo of [1, 2, 3, 4]) {
      comparer.compareSoon(chatNo);
      mock.timers.tick(200);
    }
    expect(asked).to.deep.equal([[1]]);
    open();
    await nextTurn();
    mock.timers.tick(200);
    expect(asked).to.deep.equal([[1], [2, 3, 4]]);
  });

  it('takes the higher of each of a room’s numbers that several processes report', () => {
    mock.timers.enable({ apis: ['setInterval'] });
    const compared: RoomHead[] = [];
    const reports = new FakeReports();
    const comparer = new RoomComparer({
      heads: async () => [],
      sequencer: { rooms: () => [], has: () => true, compare: (head) => compared.push(head) > 0 },
      views: { compare() {}, async compareAll() {} },
      redis: undefined,
      reports,
      logger: pino({ level: 'silent' }),
    });
    comparer.start();
    /** A head by a process that knows these numbers of the room: the newest, and up to where each member has read. */
    const head = (seq: number, ...reads: number[]): RoomHead => ({
      chatNo: 7,
      seq,
      reads: reads.map((read, i) => ({ memberNo: i + 1, seq: read, others: read })),
    });
    // Each of them lacks what another one wrote.
    reports.tell({ rooms: [head(10, 4, 8)] });
    reports.tell({ rooms: [head(9, 6, 8), { ...head(3, 0, 0), chatNo: 8 }] });
    reports.tell({ rooms: [head(9, 5, 9)] });
    mock.timers.tick(4_000);
    comparer.stop();
    expect(compared).to.deep.equal([head(10, 6, 9), { ...head(3, 0, 0), chatNo: 8 }]);
  });
});
