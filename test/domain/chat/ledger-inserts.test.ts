import { mock } from 'node:test';
import { expect } from 'chai';
import { nextTurn } from '../../support/eventually.js';
import { FakeMessages } from './fake-messages.js';

describe('the inserts of the ledger', () => {
  let db: FakeMessages;
  beforeEach(() => {
    db = new FakeMessages();
  });
  afterEach(() => {
    mock.timers.reset();
    db.end();
  });

  for (const [rooms, count, expected] of [
    [3, 3, [3, 3, 3]],
    [4, 3, [4, 4, 4]],
    [10, 7, Array.from({ length: 7 }, () => 10)],
    [10, 8, Array.from({ length: 10 }, () => 8)],
  ] as const) {
    it(`stores ${count} waiting sends of each of ${rooms} rooms by ${expected.length} inserts`, async () => {
      const all = Array.from({ length: rooms }, (_, i) => db.sends(count, i + 1)).flat();
      await Promise.all(all);
      expect(db.inserts).deep.equal(expected);
    });
  }

  for (const [connections, expected] of [
    [100, [2]],
    [99, [1, 1]],
  ] as const) {
    it(`stores what arrives within 2 ms in a room of ${connections} connections by ${expected.length} inserts`, async () => {
      db.connections = connections;
      const clock = mock.timers;
      clock.enable({ apis: ['setTimeout'] });
      const first = db.send(1);
      await nextTurn(3);
      clock.tick(1);
      const second = db.send(1);
      await nextTurn(3);
      clock.tick(1);
      await Promise.all([first, second]);
      expect(db.inserts).deep.equal(expected);
    });
  }
});
