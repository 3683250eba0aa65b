import { expect } from 'chai';
import { pino } from 'pino';
import type { MessagePayload } from '../../domain/kernel/live.js';
import { createSequencer, type SequencerPorts } from '../../gateway/sequencer.js';

const CHAT = 7;

/** A room in a database of the test's own, and the sockets of this process that are in it. */
function buildRoom() {
  const stored: MessagePayload[] = [];
  const shown: number[] = [];
  const askedFor: number[] = [];
  let occupied = false;
  let beforeRead = () => {};
  const ports: SequencerPorts = {
    async read(_chatNo, after) {
      const page = stored.filter(({ seq }) => seq > after);
      await new Promise((resolve) => setImmediate(resolve));
      beforeRead();
      return page;
    },
    async heads(chatNos) {
      askedFor.push(...chatNos);
      return chatNos.map((chatNo) => ({ chatNo, seq: stored.length, reads: [] }));
    },
    emit: ({ seq }) => shown.push(seq),
    entering: () => undefined,
    heard() {},
    heardRead() {},
    emitRead() {},
    compared() {},
    filled() {},
    isOccupied: () => occupied,
  };
  const sequencer = createSequencer(ports, pino({ level: 'silent' }));
  return {
    sequencer,
    shown,
    store(): MessagePayload {
      const message = { id: `m${stored.length}`, chatNo: CHAT, seq: stored.length + 1 } as MessagePayload;
      stored.push(message);
      return message;
    },
    push: (message: MessagePayload) => sequencer.offer(message, () => shown.push(message.seq)),
    enter: (during = () => {}) =>
      sequencer.enter(CHAT, 'socket', async () => {
        occupied = true;
        const seq = stored.length;
        await new Promise((resolve) => setImmediate(resolve));
        during();
        return { seq };
      }),
    leave() {
      occupied = false;
      sequencer.leave(CHAT);
    },
    /** What happens while the database is being read. */
    whileReading(what: () => void) {
      beforeRead = what;
    },
    /** Whether the room is followed: compared with the database. */
    async isFollowed(): Promise<boolean> {
      askedFor.length = 0;
      await sequencer.compare();
      return askedFor.length > 0;
    },
  };
}

/** Everything that was put off to a later turn of the loop has run. */
async function settled(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('the sequencer', () => {
  it('passes on what comes in turn, drops repeats, and fills a jump from the database', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    const [first, second, third, fourth] = [room.store(), room.store(), room.store(), room.store()];
    room.push(first);
    room.push(first);
    room.push(third);
    room.push(fourth);
    room.push(second);
    await settled();
    expect(room.shown).to.deep.equal([1, 2, 3, 4]);
  });

  it('gives those inside what a newcomer has read and they have not', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    room.store();
    await room.enter();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('finds what was lost without a push behind it by comparing', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    room.store();
    await room.sequencer.compare();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('lets go of a room whose last socket went while it was entering', async () => {
    // The end of the join set the number that the leave had taken back: the room was followed for ever,
    // compared every five seconds, and kept in memory, though nobody was in it.
    const room = buildRoom();
    await room.enter(room.leave);
    await settled();
    expect(await room.isFollowed()).to.equal(false);
  });

  it('lets go of a room whose last socket went while it was read on', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    room.store();
    const second = room.store();
    room.whileReading(() => {
      room.whileReading(() => {});
      room.leave();
    });
    room.push(second);
    await settled();
    expect(await room.isFollowed()).to.equal(false);
    expect(room.shown, 'to nobody').to.deep.equal([]);
  });

  it('goes on with a room that was left and entered again meanwhile', async () => {
    const room = buildRoom();
    await room.enter(room.leave);
    await room.enter();
    await settled();
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });
});
