import { mock } from 'node:test';
import { expect } from 'chai';
import { buildRoom, CHAT, enteredRoom, settled } from './sequenced-room.js';

const AWAY = new Error('the database is away');

describe('the sequencer, where pushes are lost, forged or too many,', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  // Forgets its mocks, too: a later `restoreAll` in this process would bring the mocked timers back.
  afterEach(() => mock.reset());

  /** Lets this time, in ms, pass, and what is due then run. */
  async function pass(ms: number): Promise<void> {
    await settled();
    mock.timers.tick(ms);
    await settled();
  }

  it('reads a room again a second after it could not be, until it can', async () => {
    const room = await enteredRoom();
    room.store();
    const second = room.store();
    room.whileReading(() => {
      throw AWAY;
    });
    room.push(second);
    await pass(999);
    expect(room.asked).to.deep.equal([0]);
    await pass(1);
    expect(room.asked).to.deep.equal([0, 0]);
    room.whileReading(() => {});
    await pass(1_000);
    expect(room.shown).to.deep.equal([1, 2]);
    await pass(10_000);
    expect(room.asked, 'and then no more than the empty page').to.deep.equal([0, 0, 0, 2]);
    expect(room.errors).to.deep.equal([]);
  });

  it('reads no room again that was left meanwhile', async () => {
    const room = await enteredRoom();
    room.store();
    room.whileReading(() => {
      throw AWAY;
    });
    room.push(room.store());
    await settled();
    room.leave();
    await room.enter();
    await pass(10_000);
    expect(room.asked).to.deep.equal([0]);
    expect(room.sequencer.follows(CHAT), 'those who came in since').to.equal(true);
  });

  it('looks five times for a message whose number was told, 100 ms apart, and forgets it then', async () => {
    const room = await enteredRoom();
    room.push(room.forged(3));
    room.pushRead(2, 2);
    for (let looks = 1; looks <= 5; looks += 1) {
      await pass(99);
      expect(room.asked).to.have.length(looks);
      await pass(1);
    }
    await pass(60_000);
    expect(room.asked, 'looks').to.have.length(5);
    expect(room.errors, 'log').to.have.length(1);
    expect(JSON.parse(room.errors[0] as string)).to.deep.include({ chatNo: CHAT, last: 0, waiting: [3, 2] });
    expect(room.told).to.deep.equal([]);
    // The true ones of these numbers pass as any others.
    for (let i = 0; i < 3; i += 1) room.push(room.store());
    room.pushRead(2, 2);
    expect(room.told).to.deep.equal(['message 1', 'message 2', 'message 3', 'read 2']);
    expect(room.asked).to.have.length(5);
  });

  it('tells what shows in the database a little later, and looks no more', async () => {
    const room = await enteredRoom();
    const [first, second] = [room.forged(1), room.forged(2)];
    room.push(second);
    await pass(100);
    room.store(first);
    room.store(second);
    await pass(100);
    expect(room.shown).to.deep.equal([1, 2]);
    await pass(10_000);
    expect(room.asked).to.deep.equal([0, 0, 0, 2]);
  });

  it('goes on with what came while a room was held, be it only out of turn or ahead of its message', async () => {
    const room = buildRoom();
    await room.enter(() => room.push(room.forged(2)));
    await settled();
    expect(room.asked, 'a push alone').to.deep.equal([0]);
    const other = buildRoom();
    await other.enter(() => other.pushRead(2, 1));
    await settled();
    expect(other.asked, 'a read position alone').to.deep.equal([0]);
  });

  it('looks no more once everybody has left', async () => {
    const room = await enteredRoom();
    room.push(room.forged(2));
    await settled();
    room.leave();
    room.store();
    await pass(1_000);
    expect(room.asked).to.deep.equal([0]);
    expect(room.shown).to.deep.equal([]);
    expect(await room.isKept()).to.equal(false);
  });

  it('keeps a thousand pushes of a room that is held, and reads those past them', async () => {
    const room = buildRoom();
    let passedOn = 0;
    await room.enter(() => {
      for (let i = 0; i < 1_500; i += 1) {
        const message = room.store();
        room.push(message, () => {
          passedOn += 1;
          room.shown.push(message.seq);
        });
      }
    });
    await settled();
    expect(passedOn).to.equal(1_000);
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal(Array.from({ length: 1_501 }, (_, i) => i + 1));
    expect(room.asked).to.deep.equal([1_000, 1_501]);
  });

  it('keeps of the read positions that wait the furthest of each member', async () => {
    const room = buildRoom();
    await room.enter(() => {
      for (const seq of [1, 3, 2]) room.pushRead(2, seq);
      room.pushRead(3, 1);
      for (let i = 0; i < 3; i += 1) room.push(room.store());
    });
    await settled();
    expect(room.told).to.deep.equal(['message 1', 'message 2', 'message 3', 'read 3', 'read 1']);
    expect(room.heard.filter((one) => one.startsWith('read'))).to.deep.equal(['read 3 by 2', 'read 1 by 3']);
  });

  it('compares the room of a lost push 200 ms later: a read position may have been lost with it', async () => {
    const room = await enteredRoom();
    const timer = mock.method(globalThis, 'setTimeout');
    for (let round = 1; round <= 2; round += 1) {
      room.store();
      room.push(room.store());
      await settled();
      expect(timer.mock.callCount(), 'one timer for both messages').to.equal(round);
      room.reads.set(2, 2 * round);
      await pass(199);
      expect(room.looks).to.have.length(round - 1);
      await pass(1);
      expect(room.looks).to.deep.equal(Array(round).fill([CHAT]));
    }
    await pass(10_000);
    expect(room.looks).to.have.length(2);
    expect(room.told).to.deep.equal([
      ...['message 1', 'message 2', 'read 2'],
      ...['message 3', 'message 4', 'read 4'],
    ]);
  });

  it('compares five hundred rooms at a time, and tells what it found', async () => {
    const room = buildRoom();
    const all = Array.from({ length: 501 }, (_, i) => i + 1);
    await Promise.all(all.map((chatNo) => room.enter(undefined, 'socket', chatNo)));
    await settled();
    await room.compare();
    expect(room.looks.map(({ length }) => length)).to.deep.equal([500, 1]);
    expect(room.compared).to.deep.equal(all);
  });

  it('does not read a room again, by comparing, that is being read', async () => {
    const room = await enteredRoom();
    let answer = () => {};
    room.whileReading(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    room.store();
    for (let looks = 0; looks < 3; looks += 1) {
      await room.compare();
      await settled();
    }
    room.whileReading(() => {});
    answer();
    await pass(0);
    expect(room.asked).to.deep.equal([0, 1]);
    expect(room.shown).to.deep.equal([1]);
  });

  it('compares no room that nobody has come into yet', async () => {
    const room = buildRoom();
    room.store();
    room.reads.set(2, 1);
    const entering = room.enter(async () => room.compare());
    await entering;
    await pass(0);
    expect(room.compared).to.deep.equal([]);
    expect(room.told).to.deep.equal([]);
  });
});
