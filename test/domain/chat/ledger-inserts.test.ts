import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { type FakeTime, fakeTime } from '../../support/time.js';
import { FakeMessages } from './fake-messages.js';

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

  it('stores 3 waiting sends of each of 10 rooms with 100 connections by an insert for each room', async () => {
    db.connections = 100;
    const all = Array.from({ length: 10 }, (_, i) => db.sends(3, i + 1)).flat();
    await Promise.all(all);
    expect(db.inserts).deep.equal(Array.from({ length: 10 }, () => 3));
  });

  it('stores waiting sends of rooms that have 100 connections since the first was stored by an insert for each room', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    db.before = () => held;
    const rooms = Array.from({ length: 10 }, (_, i) => i + 1);
    const all = rooms.map((chatNo) => db.send(chatNo));
    await eventually(() => expect(db.inserts).deep.equal([10]));
    all.push(...rooms.flatMap((chatNo) => db.sends(2, chatNo)));
    db.connections = 100;
    release();
    await Promise.all(all);
    expect(db.inserts).deep.equal([10, ...rooms.map(() => 2)]);
  });

  describe('when sends wait for others', () => {
    let time: FakeTime;
    beforeEach(async () => {
      time = fakeTime();
      for (const chatNo of [1, 2, 3]) await db.states.get(chatNo);
    });
    afterEach(() => time.restore());

    for (const connections of [0, 99]) {
      it(`stores the first send after a pause at once, and those of the next 2 ms together, in rooms with ${connections} connections`, async () => {
        db.connections = connections;
        const all = [db.send(1)];
        await time.pass(0);
        expect(db.inserts).deep.equal([1]);
        await time.pass(1);
        all.push(db.send(1), db.send(2));
        await time.pass(0);
        all.push(db.send(3));
        await time.pass(0);
        expect(db.inserts).deep.equal([1]);
        await time.pass(1);
        expect(db.inserts).deep.equal([1, 3]);
        await time.pass(2);
        all.push(db.send(1));
        await time.pass(0);
        expect(db.inserts).deep.equal([1, 3, 1]);
        expect(await Promise.all(all)).deep.equal([1, 2, 1, 1, 3]);
      });
    }

    it('leaves 2 ms between rounds also where timers ignore fractions', async () => {
      const all = [db.send(1)];
      await time.pass(0);
      await time.pass(0.5);
      all.push(db.send(2));
      await time.pass(1);
      expect(db.inserts).deep.equal([1]);
      await time.pass(1);
      expect(db.inserts).deep.equal([1, 1]);
      await Promise.all(all);
    });

    it('stores the sends of a room with 100 connections 2 ms after the first one', async () => {
      db.connections = 100;
      const first = db.send(1);
      await time.pass(1);
      const second = db.send(1);
      await time.pass(0);
      expect(db.inserts).deep.equal([]);
      await time.pass(1);
      expect(db.inserts).deep.equal([2]);
      expect(await Promise.all([first, second])).deep.equal([1, 2]);
    });
  });
});
