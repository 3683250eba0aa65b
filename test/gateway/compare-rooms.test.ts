import { mock } from 'node:test';
import { expect } from 'chai';
import { pino } from 'pino';
import type { RoomHead } from '../../domain/kernel/live.js';
import { RoomComparer } from '../../gateway/compare-rooms.js';
import { gate, nextTurn } from '../support/eventually.js';

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
      sequencer: { rooms: () => [], compare: () => false },
      views: { compare() {}, async compareAll() {} },
      redis: undefined,
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
});
