import { expect } from 'chai';
import { DeliveredPresence } from '../../../domain/chat/delivered-presence.js';

const ROOM = 7;

describe('the presence known to connections', () => {
  it('is forgotten for rooms without connections, and kept for others', () => {
    const delivered = new DeliveredPresence((chatNo) => chatNo % 2 === 0);
    for (let round = 0; round < 2; round += 1) {
      for (let chatNo = 1; chatNo <= 3_000; chatNo += 1) delivered.markListed(chatNo);
    }
    const listed = (parity: number) =>
      Array.from({ length: 1_500 }, (_, i) => 2 * i + 2 - parity).filter((chatNo) =>
        delivered.isListed(chatNo),
      ).length;
    expect(listed(0)).to.equal(1_500);
    // Rooms added since the last scan are still there.
    expect(listed(1)).to.be.below(1_000);
    delivered.forget(2);
    expect(delivered.isListed(2)).to.equal(false);
  });

  it('is reconciled up to a version, and no further', () => {
    const delivered = new DeliveredPresence(() => true);
    expect(delivered.reconcile(ROOM, new Set([3]), 10, true), 'nobody was given a list').to.deep.equal([]);
    expect(delivered.members(ROOM)).to.deep.equal([3]);
    delivered.markListed(ROOM);
    expect(delivered.accept(ROOM, 4, true, 10), 'older than the list').to.equal(false);
    expect(delivered.accept(ROOM, 4, true, 11)).to.equal(true);
    expect(delivered.reconcile(ROOM, new Set([5]), 11, true)).to.deep.equal([
      [3, false],
      [5, true],
    ]);
    expect(delivered.members(ROOM)).to.deep.equal([4, 5]);
    expect(delivered.reconcile(ROOM, new Set([5]), 12, true)).to.deep.equal([[4, false]]);
    expect(delivered.reconcile(ROOM, new Set([3, 5]), 12, true), 'same version').to.deep.equal([[3, true]]);
    expect(delivered.accept(ROOM, 5, false, 12)).to.equal(false);
    expect(delivered.reconcile(ROOM, new Set(), 9, true), 'older than what is known').to.deep.equal([]);
    expect(delivered.accept(ROOM, 9, true, 12), 'older than what is known').to.equal(false);
  });

  it('is complete up to the latest version that was reconciled, if Redis had all members', () => {
    const delivered = new DeliveredPresence(() => true);
    delivered.accept(ROOM, 3, true, 10);
    expect(delivered.knownOf(ROOM)).to.deep.equal({ version: 10, isComplete: false });
    delivered.reconcile(ROOM, new Set([3]), 12, true);
    expect(delivered.knownOf(ROOM)).to.deep.equal({ version: 12, isComplete: true });
    delivered.accept(ROOM, 4, true, 13);
    expect(delivered.knownOf(ROOM)).to.deep.equal({ version: 13, isComplete: false });
    delivered.reconcile(ROOM, new Set([3, 4]), 14, false);
    expect(delivered.knownOf(ROOM)).to.deep.equal({ version: 14, isComplete: false });
  });

  it('gives versions above all it has received', () => {
    const delivered = new DeliveredPresence(() => true);
    const first = delivered.nextVersion();
    expect(delivered.accept(ROOM, 3, true, first), 'the first of all').to.equal(true);
    delivered.noteVersion(40);
    delivered.noteVersion(30);
    expect([first, delivered.nextVersion(), delivered.nextVersion()]).to.deep.equal([1, 41, 42]);
    delivered.accept(ROOM, 3, true, 60);
    expect(delivered.nextVersion()).to.equal(61);
    delivered.reconcile(ROOM, new Set(), 80, true);
    expect(delivered.nextVersion()).to.equal(81);
  });
});
