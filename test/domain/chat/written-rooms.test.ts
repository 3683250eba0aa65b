import { expect } from 'chai';
import { createWrittenRooms } from '../../../domain/chat/written-rooms.js';
import { roomState } from '../../support/chat.js';
import { inStoppedTime } from '../../support/time.js';

describe('what a process reports of rooms', () => {
  /** A process that remembers rooms 1 and 2, and has changed 1 and 3. */
  function build() {
    const failed: number[] = [];
    const slow: number[] = [];
    const asked: number[] = [];
    const writtenSince = createWrittenRooms({
      states: { peek: (chatNo) => (chatNo < 3 ? roomState({ chatNo, seq: 5 }) : undefined) },
      changes: {
        changedSince(since) {
          asked.push(since);
          return [1, 3];
        },
      },
      ledger: { slowRooms: (ms) => (ms === 2_000 ? slow : []) },
      uncertain: { unsure: () => failed },
    });
    return { writtenSince, failed, slow, asked };
  }

  it('are the numbers of those it has changed, and those of which it does not know the numbers', () => {
    const { writtenSince, asked } = build();
    const { rooms, unsure } = writtenSince(7);
    expect(rooms.map(({ chatNo, seq }) => [chatNo, seq])).to.deep.equal([[1, 5]]);
    expect(unsure).to.deep.equal([3]);
    expect(asked).to.deep.equal([7]);
  });

  it('are rooms of slow and uncertain writes, too, every five seconds', () =>
    inStoppedTime(async (advance) => {
      const { writtenSince, failed, slow } = build();
      expect(writtenSince(0).unsure).to.deep.equal([3]);
      failed.push(8);
      slow.push(9, 8);
      expect(writtenSince(0).unsure, 'at once').to.deep.equal([3, 9, 8]);
      advance(4_999);
      expect(writtenSince(0).unsure).to.deep.equal([3]);
      advance(1);
      expect(writtenSince(0).unsure).to.deep.equal([3, 9, 8]);
    }));
});
