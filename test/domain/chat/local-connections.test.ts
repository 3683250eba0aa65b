import { expect } from 'chai';
import { LocalConnections } from '../../../domain/chat/presence.memory.js';

const ROOM = 7;

describe('local connections', () => {
  it('are removed up to an entry, and leave no empty room', () => {
    const local = new LocalConnections();
    expect(local.enter(ROOM, 3, 'old')).to.equal(true);
    const { lastEntry } = local;
    expect(local.enter(ROOM, 3, 'new')).to.equal(false);
    local.enter(ROOM, 3, 'again');
    expect(local.clear(ROOM, 3, lastEntry)).to.deep.equal(['old']);
    expect(local.leave(ROOM, 3, 'old'), 'is out').to.equal(false);
    expect([local.has(ROOM, 3), local.hasRoom(ROOM), [...local.rooms()]]).to.deep.equal([true, true, [ROOM]]);
    expect(local.leave(ROOM, 3, 'new')).to.equal(false);
    expect(local.leave(ROOM, 3, 'again')).to.equal(true);
    expect([local.has(ROOM, 3), local.hasRoom(ROOM), [...local.rooms()]]).to.deep.equal([false, false, []]);
    expect([local.members(ROOM), local.clear(ROOM, 3), local.leave(ROOM, 3, 'again')]).to.deep.equal([
      [],
      [],
      false,
    ]);
  });

  it('count from their latest entry', () => {
    const local = new LocalConnections();
    local.enter(ROOM, 3, 'page');
    const { lastEntry } = local;
    local.enter(ROOM, 3, 'page');
    expect(local.clear(ROOM, 3, lastEntry)).to.deep.equal([]);
    expect(local.clear(ROOM, 3)).to.deep.equal(['page']);
  });

  it('are pruned if they are not in their rooms', () => {
    const local = new LocalConnections();
    for (const [chatNo, memberNo, connection] of [
      [7, 3, 'a'],
      [7, 3, 'b'],
      [7, 4, 'c'],
      [8, 3, 'a'],
    ] as const)
      local.enter(chatNo, memberNo, connection);
    const inside = new Set(['7 b', '8 a']);
    const isInRoom = (chatNo: number, connection: string) => inside.has(`${chatNo} ${connection}`);
    expect(local.prune(isInRoom)).to.deep.equal([[7, 4]]);
    expect(local.members(7)).to.deep.equal([3]);
    inside.clear();
    expect(local.prune(isInRoom)).to.deep.equal([
      [7, 3],
      [8, 3],
    ]);
    expect([...local.rooms()]).to.deep.equal([]);
  });
});
