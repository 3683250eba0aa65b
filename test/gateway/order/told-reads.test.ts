import { expect } from 'chai';
import { enteredRoom, settled } from './sequenced-room.js';

describe('the sequencer', () => {
  it('delivers no read position below one that a socket was told when it entered, to which it raises the others', async () => {
    const room = await enteredRoom([2, 1]);
    for (let i = 0; i < 3; i += 1) room.push(room.store());
    room.reads.set(2, 3);
    await room.enter(() => {}, 'second');
    await settled();
    expect(room.told.slice(3)).to.deep.equal(['read 3']);
    room.pushRead(2, 2);
    room.pushRead(2, 3);
    await settled();
    expect(room.told.slice(4)).to.deep.equal([]);
  });

  it('delivers a position after the message that it refers to, also one that a join has read ahead of it', async () => {
    const room = await enteredRoom();
    room.push(room.store());
    room.reads.set(2, 2);
    await room.enter(() => room.push(room.store()), 'second');
    await settled();
    expect(room.told).to.deep.equal(['message 1', 'message 2', 'read 2']);
  });

  it('tells a socket that enters of a position above what it was told', async () => {
    const room = await enteredRoom([2, 1]);
    room.push(room.store());
    room.pushRead(2, 1);
    room.store({ readCount: 0 });
    // Its answer shows message 2 as unread; before the others are sent it, it has been read.
    room.reads.set(2, 1);
    await room.enter(() => {}, 'second');
    await settled();
    expect(room.leftOut.at(-1)).to.equal('second');
    expect(room.told.slice(-2)).to.deep.equal(['message 2', 'read 2']);
  });

  it('tells no position again that a further one has followed during the join', async () => {
    const room = await enteredRoom();
    for (let i = 0; i < 3; i += 1) room.push(room.store());
    room.pushRead(2, 2);
    room.reads.set(2, 1);
    await room.enter(() => room.pushRead(2, 3), 'second');
    await settled();
    expect(room.told.slice(3)).to.deep.equal(['read 2', 'read 3', 'read 3']);
  });
});
