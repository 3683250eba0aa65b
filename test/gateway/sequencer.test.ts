import { expect } from 'chai';
import { pino } from 'pino';
import type { MessagePayload } from '../../domain/kernel/live.js';
import { createSequencer } from '../../gateway/sequencer.js';
import type { SequencerPorts } from '../../gateway/sequencer-ports.js';

const CHAT = 7;

/** A room in a database of the test's own, and the sockets of this process that are in it. */
function buildRoom() {
  const stored: MessagePayload[] = [];
  const reads = new Map<number, number>();
  const told: string[] = [];
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
      const positions = [...reads].map(([memberNo, seq]) => ({ memberNo, seq, others: seq }));
      return chatNos.map((chatNo) => ({ chatNo, seq: stored.length, reads: positions }));
    },
    emit({ seq }) {
      shown.push(seq);
      told.push(`message ${seq}`);
    },
    entering: () => undefined,
    heard() {},
    heardRead() {},
    emitRead: (_chatNo, { seq }) => told.push(`read ${seq}`),
    compared() {},
    filled() {},
    isOccupied: () => occupied,
  };
  const sequencer = createSequencer(ports, pino({ level: 'silent' }));
  return {
    sequencer,
    shown,
    told,
    reads,
    store(): MessagePayload {
      const message = { id: `m${stored.length}`, chatNo: CHAT, seq: stored.length + 1 } as MessagePayload;
      stored.push(message);
      return message;
    },
    push: (message: MessagePayload) => sequencer.offer(message, () => ports.emit(message)),
    pushRead(memberNo: number, seq: number) {
      const position = { memberNo, seq, others: seq };
      sequencer.offerRead(CHAT, position, () => ports.emitRead(CHAT, position));
    },
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

  it('tells a read position behind the message that it reaches to, whichever comes first', async () => {
    // Two processes: the reader's push overtook the sender's, and the message showed as unread for good.
    const room = buildRoom();
    await room.enter();
    await settled();
    const message = { ...room.store(), senderNo: 1, readCount: 1 };
    room.pushRead(2, 1);
    room.push(message);
    await settled();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
  });

  it('tells read positions forward only, and once', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    for (let i = 0; i < 3; i += 1) room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    for (const seq of [1, 3, 2, 3]) room.pushRead(2, seq);
    expect(room.told.filter((one) => one.startsWith('read'))).to.deep.equal(['read 1', 'read 3']);
  });

  it('finds read positions that were lost by comparing', async () => {
    const room = buildRoom();
    await room.enter();
    await settled();
    room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    room.reads.set(2, 1);
    await room.sequencer.compare();
    await room.sequencer.compare();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
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
