import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { FakeMessages, outcomes } from './fake-messages.js';

describe('the inserts of the ledger', () => {
  let db: FakeMessages;
  beforeEach(() => {
    db = new FakeMessages();
  });
  afterEach(() => db.end());

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

  it('tells whether further sends of a room are being stored', async () => {
    const { ledger } = db;
    const seen: boolean[] = [];
    const note = (number: number) => {
      seen.push(ledger.isStoring(1));
      return number;
    };
    const first = db.sends(2).map((sent) => sent.then(note));
    expect(ledger.isStoring(1)).equal(true);
    expect(ledger.isStoring(2)).equal(false);
    const more: Promise<number>[] = [];
    db.before = () => {
      db.before = () => {};
      more.push(db.send(1).then(note));
    };
    await Promise.all(first);
    await Promise.all(more);
    expect(seen).deep.equal([true, true, false]);
    db.before = () => {
      throw new MongoNetworkTimeoutError('the answer did not come');
    };
    await outcomes(db.sends(2));
    expect(ledger.isStoring(1)).equal(false);
  });
});
