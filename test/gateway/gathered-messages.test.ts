import { expect } from 'chai';
import { type FakeTime, fakeTime } from '../support/time.js';
import { enteredRoom, type SequencedRoom, settled } from './sequenced-room.js';

describe('the sequencer lets messages wait for the next ones of their room, which leave in the same write,', () => {
  let room: SequencedRoom;
  let time: FakeTime;
  beforeEach(async () => {
    room = await enteredRoom();
    time = fakeTime();
  });
  afterEach(() => time.restore());
  const wait = (ms: number) => room.push(room.store(), undefined, ms);

  it('until one comes that does not wait, and what follows them behind it', () => {
    wait(5);
    room.pushRead(2, 1);
    room.pushChange('state of 1');
    wait(5);
    expect(room.told).to.deep.equal([]);
    wait(0);
    expect(room.told).to.deep.equal(['message 1', 'message 2', 'message 3', 'read 1', 'state of 1']);
    wait(0);
    expect(room.shown).to.deep.equal([1, 2, 3, 4]);
    expect(time.pending).to.equal(0);
    expect(room.asked).to.deep.equal([]);
  });

  it('no longer than the first of them may', async () => {
    wait(5);
    await time.pass(3);
    wait(5);
    await time.pass(1);
    expect(room.told).to.deep.equal([]);
    await time.pass(1);
    expect(room.shown).to.deep.equal([1, 2]);
    wait(5);
    await time.pass(5);
    expect(room.shown).to.deep.equal([1, 2, 3]);
  });

  it('and reads what is missing between them', async () => {
    wait(5);
    room.store();
    wait(0);
    await settled();
    expect(room.shown).to.deep.equal([1, 2, 3]);
    expect(room.gapsFilled).to.equal(1);
  });

  it('and shows them to a newcomer once, in the answer to the join', async () => {
    wait(5);
    await room.enter();
    await settled();
    expect(room.shown).to.deep.equal([1]);
    expect(room.leftOut, 'the newcomer').to.deep.equal(['socket']);
    await time.pass(5);
    wait(0);
    expect(room.shown).to.deep.equal([1, 2]);
  });

  it('and forgets them with the last socket', async () => {
    wait(5);
    room.leave();
    await time.pass(5);
    expect(room.told).to.deep.equal([]);
    expect(await room.isKept()).to.equal(false);
  });
});
