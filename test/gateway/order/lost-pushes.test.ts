import { mock } from 'node:test';
import { expect } from 'chai';
import { metrics } from '../../../domain/platform/observe/metrics.js';
import { counted } from '../../support/counted.js';
import { gate } from '../../support/eventually.js';
import { buildRoom, CHAT, enteredRoom, settled } from './sequenced-room.js';

const AWAY = new Error('the database is away');

describe('the sequencer when pushes are lost, forged or too many', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  // Not `restoreAll`: it keeps the mocks, and a later call would bring the mocked timers back.
  afterEach(() => mock.reset());

  /** Advances the time, ms, and runs what is due. */
  async function pass(ms: number): Promise<void> {
    await settled();
    mock.timers.tick(ms);
    await settled();
  }

  it('repeats a failed read every second until it succeeds', async () => {
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
    expect(room.asked, 'then only the empty page').to.deep.equal([0, 0, 0, 2]);
    expect(room.drops).to.deep.equal([]);
  });

  it('repeats a failed read also if a join of a connection that has gone waited behind it', async () => {
    const room = await enteredRoom();
    room.store();
    room.whileReading(() => {
      throw AWAY;
    });
    await room.compare();
    await room.sequencer.enter(CHAT, 'gone', async () => ({ seq: -1 }));
    await settled();
    room.whileReading(() => {});
    await pass(1_000);
    expect(room.shown).to.deep.equal([1]);
    await pass(10_000);
    expect(room.asked, 'then only the empty page').to.deep.equal([0, 0, 1]);
  });

  it('does not repeat the failed read of a room that was left meanwhile', async () => {
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
    expect(room.sequencer.has(CHAT), 'for the newcomer').to.equal(true);
  });

  it('looks five times, 100 ms apart, for a message that was pushed but not stored, then forgets it', async () => {
    const before = await counted(metrics.pushesWithoutRecord);
    const room = await enteredRoom();
    room.push(room.forged(3));
    room.pushRead(2, 2);
    expect(room.sequencer.waiting).to.equal(2);
    for (let looks = 1; looks <= 5; looks += 1) {
      await pass(99);
      expect(room.asked).to.have.length(looks);
      await pass(1);
    }
    await pass(60_000);
    expect(room.asked, 'looks').to.have.length(5);
    expect(room.drops, 'log').to.have.length(1);
    expect(await counted(metrics.pushesWithoutRecord)).to.equal(before + 2);
    expect(JSON.parse(room.drops[0] as string)).to.deep.include({ chatNo: CHAT, last: 0, waiting: [3, 2] });
    expect(room.told).to.deep.equal([]);
    // Real messages with these numbers are delivered as usual.
    for (let i = 0; i < 3; i += 1) room.push(room.store());
    room.pushRead(2, 2);
    expect(room.told).to.deep.equal(['message 1', 'message 2', 'message 3', 'read 2']);
    expect(room.asked).to.have.length(5);
  });

  it('delivers messages that are stored a little after their push, and stops looking', async () => {
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

  it('reads the room after a join during which only a push or a read position arrived early', async () => {
    const room = buildRoom();
    await room.enter(() => room.push(room.forged(2)));
    await settled();
    expect(room.asked, 'a push alone').to.deep.equal([0]);
    const other = buildRoom();
    await other.enter(() => other.pushRead(2, 1));
    await settled();
    expect(other.asked, 'a read position alone').to.deep.equal([0]);
  });

  it('stops looking when everybody has left', async () => {
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

  it('keeps a thousand pushes of a room during a join, and reads the later messages', async () => {
    const room = buildRoom();
    let delivered = 0;
    await room.enter(() => {
      for (let i = 0; i < 1_500; i += 1) {
        const message = room.store();
        room.push(message, () => {
          delivered += 1;
          room.shown.push(message.seq);
        });
      }
    });
    await settled();
    expect(delivered).to.equal(1_000);
    expect(room.shown).to.deep.equal(Array.from({ length: 1_500 }, (_, i) => i + 1));
    expect(room.asked).to.deep.equal([1_000, 1_500]);
    expect(room.gapsFilled, 'nothing was lost').to.equal(0);
  });

  it('keeps only the furthest waiting read position of each member', async () => {
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

  it('compares a room 200 ms after a lost push: a read position may be lost, too', async () => {
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

  it('compares five hundred rooms at a time, and passes each to the views', async () => {
    const room = buildRoom();
    const all = Array.from({ length: 501 }, (_, i) => i + 1);
    await Promise.all(all.map((chatNo) => room.enter(undefined, 'socket', chatNo)));
    await settled();
    await room.compare();
    expect(room.looks.map(({ length }) => length)).to.deep.equal([500, 1]);
    expect(room.compared).to.deep.equal(all);
  });

  it('does not read a room for a comparison while it is being read', async () => {
    const room = await enteredRoom();
    const { open: answer, opened: answered } = gate();
    room.whileReading(() => answered);
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

  it('does not compare a room before its first join is complete', async () => {
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
