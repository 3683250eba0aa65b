import { expect } from 'chai';
import { createLocalPresence } from '../../../domain/chat/local-presence.js';
import { createToldPresence } from '../../../domain/chat/told-presence.js';

const ROOM = 7;

describe('what connections were told of presence', () => {
  it('is forgotten of rooms that nobody here is in, and kept of those that somebody is', () => {
    const told = createToldPresence((chatNo) => chatNo % 2 === 0);
    for (let round = 0; round < 2; round += 1) {
      for (let chatNo = 1; chatNo <= 3_000; chatNo += 1) told.list(chatNo);
    }
    const listed = (parity: number) =>
      Array.from({ length: 1_500 }, (_, i) => 2 * i + 2 - parity).filter(told.isListed).length;
    expect(listed(0)).to.equal(1_500);
    // Those since the last look are still there.
    expect(listed(1)).to.be.below(1_000);
    told.forget(2);
    expect(told.isListed(2)).to.equal(false);
  });

  it('is put right up to the version of what is known, and no further', () => {
    const told = createToldPresence(() => true);
    expect(told.correct(ROOM, new Set([3]), 10), 'nobody was told of anybody').to.deep.equal([]);
    expect(told.members(ROOM)).to.deep.equal([3]);
    told.list(ROOM);
    expect(told.accept(ROOM, 4, true, 10), 'known by then').to.equal(false);
    expect(told.accept(ROOM, 4, true, 11)).to.equal(true);
    expect(told.correct(ROOM, new Set([5]), 11)).to.deep.equal([
      [3, false],
      [5, true],
    ]);
    expect(told.members(ROOM)).to.deep.equal([4, 5]);
    expect(told.correct(ROOM, new Set([5]), 12)).to.deep.equal([[4, false]]);
    expect(told.correct(ROOM, new Set([3, 5]), 12), 'is of the same moment').to.deep.equal([[3, true]]);
    expect(told.accept(ROOM, 5, false, 12)).to.equal(false);
    expect(told.correct(ROOM, new Set(), 9), 'older than what is known').to.deep.equal([]);
    expect(told.accept(ROOM, 9, true, 12), 'older than what is known').to.equal(false);
  });

  it('gives versions above all it has heard', () => {
    const told = createToldPresence(() => true);
    const next = told.next();
    expect(told.accept(ROOM, 3, true, next), 'the first of all').to.equal(true);
    told.note(40);
    told.note(30);
    expect([next, told.next(), told.next()]).to.deep.equal([1, 41, 42]);
    told.accept(ROOM, 3, true, 60);
    expect(told.next()).to.equal(61);
    told.correct(ROOM, new Set(), 80);
    expect(told.next()).to.equal(81);
  });
});

describe('the connections of a process', () => {
  it('are taken out up to the turn in which they entered, and leave no empty room', () => {
    const local = createLocalPresence();
    expect(local.enter(ROOM, 3, 'old')).to.equal(true);
    const { turn } = local;
    expect(local.enter(ROOM, 3, 'new')).to.equal(false);
    local.enter(ROOM, 3, 'again');
    expect(local.clear(ROOM, 3, turn)).to.deep.equal(['old']);
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

  it('count from when they entered last', () => {
    const local = createLocalPresence();
    local.enter(ROOM, 3, 'page');
    const { turn } = local;
    local.enter(ROOM, 3, 'page');
    expect(local.clear(ROOM, 3, turn)).to.deep.equal([]);
    expect(local.clear(ROOM, 3)).to.deep.equal(['page']);
  });

  it('are forgotten where they are not in their rooms', () => {
    const local = createLocalPresence();
    for (const [chatNo, memberNo, connection] of [
      [7, 3, 'a'],
      [7, 3, 'b'],
      [7, 4, 'c'],
      [8, 3, 'a'],
    ] as const)
      local.enter(chatNo, memberNo, connection);
    const inside = new Set(['7 b', '8 a']);
    const isInRoom = (chatNo: number, connection: string) => inside.has(`${chatNo} ${connection}`);
    expect(local.confirm(isInRoom)).to.deep.equal([[7, 4]]);
    expect(local.members(7)).to.deep.equal([3]);
    inside.clear();
    expect(local.confirm(isInRoom)).to.deep.equal([
      [7, 3],
      [8, 3],
    ]);
    expect([...local.rooms()]).to.deep.equal([]);
  });
});
