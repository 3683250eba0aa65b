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
});
