import { expect } from 'chai';
import { buildRoom, CHAT, settled } from './sequenced-room.js';

describe('the sequencer delivers a change that waits for a join, which a member’s list may show,', () => {
  it('when the join fails', async () => {
    const room = buildRoom();
    const failing = room.enter(() => {
      room.pushChange('new state');
      throw new Error('the database is away');
    });
    await failing.catch(() => {});
    await settled();
    expect(room.told).to.deep.equal(['new state']);
    expect(room.sequencer.has(CHAT)).to.equal(false);
  });

  it('when the connection has gone', async () => {
    const room = buildRoom();
    await room.sequencer.enter(CHAT, 'gone', async () => {
      room.pushChange('new state');
      return { seq: -1 };
    });
    await settled();
    expect(room.told).to.deep.equal(['new state']);
  });

  it('when the last socket leaves during it', async () => {
    const room = buildRoom();
    await room.enter(() => {
      room.pushChange('new state');
      room.leave();
      room.pushChange('newer state');
    });
    await settled();
    expect(room.told).to.deep.equal(['new state', 'newer state']);
  });

  it('when the last socket leaves right after it, before the join that follows', async () => {
    const room = buildRoom();
    const first = room.enter(() => room.pushChange('new state')).then(room.leave);
    const second = room.enter(() => void room.told.push('next join'));
    await Promise.all([first, second]);
    await settled();
    expect(room.told).to.deep.equal(['new state', 'next join']);
  });
});
