import { expect } from 'chai';
import { buildRoom, CHAT, enteredRoom, settled } from './sequenced-room.js';

describe('the sequencer', () => {
  it('delivers messages in order of seq, drops repeats, and reads missing ones from the database', async () => {
    const room = await enteredRoom();
    const [first, second, third, fourth] = [room.store(), room.store(), room.store(), room.store()];
    room.push(first);
    room.push(first);
    room.push(third);
    room.push(fourth);
    room.push(second);
    await settled();
    expect(room.shown).to.deep.equal([1, 2, 3, 4]);
  });

  it('reads what is only announced, which is no gap', async () => {
    const room = await enteredRoom();
    room.whileReading(() => {
      room.whileReading(() => {});
      room.announce(room.store());
    });
    const first = room.store();
    room.announce(first);
    await settled();
    expect(room.shown).to.deep.equal([1, 2]);
    expect(room.gapsFilled).to.equal(0);
    const reads = room.asked.length;
    room.announce(first);
    await settled();
    expect(room.asked).to.have.length(reads);
  });

  it('shows nothing that is announced without a record, and what is stored under that number', async () => {
    const room = await enteredRoom();
    for (const seq of [1, 2, 1_000_000]) room.announce(room.forged(seq));
    await settled();
    expect(room.told).to.deep.equal([]);
    expect(room.asked, 'one read').to.deep.equal([0]);
    room.announce(room.store());
    await settled();
    expect(room.told).to.deep.equal(['message 1']);
    expect(room.heard).to.deep.equal(['message 1']);
    expect(room.drops).to.deep.equal([]);
  });

  it('reads again what is announced during a read, also if its number was announced before', async () => {
    const room = await enteredRoom();
    room.whileReading(() => {
      room.whileReading(() => {});
      room.announce(room.store());
    });
    room.announce(room.forged(1));
    await settled();
    expect(room.shown).to.deep.equal([1]);
    expect(room.asked, 'and nothing after it').to.deep.equal([0, 0, 1]);
  });

  it('delivers to those inside what a newcomer has read and they have not received', async () => {
    const room = await enteredRoom();
    room.store();
    await room.enter();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('finds a lost message by a comparison when no push follows it', async () => {
    const room = await enteredRoom();
    room.store();
    await room.compare();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('reads after a join what a comparison has found during it', async () => {
    const room = await enteredRoom();
    await room.enter(async () => {
      // After what the newcomer has read.
      room.store();
      await room.compare();
    }, 'newcomer');
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('delivers a read position after its message, whichever arrives first', async () => {
    // The reader's process pushed before the sender's, and the message was shown as unread for ever.
    const room = await enteredRoom();
    const message = { ...room.store(), senderNo: 1, readCount: 1 };
    room.pushRead(2, 1);
    room.push(message);
    await settled();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
  });

  it('delivers read positions once, and only forward', async () => {
    const room = await enteredRoom();
    for (let i = 0; i < 3; i += 1) room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    for (const seq of [1, 3, 2, 3]) room.pushRead(2, seq);
    expect(room.told.filter((one) => one.startsWith('read'))).to.deep.equal(['read 1', 'read 3']);
  });

  it('finds lost read positions by a comparison', async () => {
    const room = await enteredRoom();
    room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    room.reads.set(2, 1);
    // The position of a member who has read nothing is not sent.
    room.reads.set(3, 0);
    await room.compare();
    await room.compare();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
  });

  it('forgets a room whose last socket leaves during its join', async () => {
    // The end of the join restored the state that the leave had removed: the room was kept and compared every
    // five seconds for ever, although nobody was in it.
    const room = buildRoom();
    await room.enter(room.leave);
    await settled();
    expect(await room.isKept()).to.equal(false);
  });

  it('forgets a room whose last socket leaves while missing messages are read', async () => {
    const room = await enteredRoom();
    room.store();
    const second = room.store();
    room.whileReading(() => {
      room.whileReading(() => {});
      room.leave();
    });
    room.push(second);
    await settled();
    expect(await room.isKept()).to.equal(false);
    expect(room.shown, 'to nobody').to.deep.equal([]);
  });

  it('continues with a room that was left and joined again meanwhile', async () => {
    const room = buildRoom();
    await room.enter(room.leave);
    await room.enter();
    await settled();
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('forgets a room with its last socket, and a room whose only join failed', async () => {
    const room = await enteredRoom();
    expect(room.sequencer.has(CHAT)).to.equal(true);
    room.leave();
    expect(room.sequencer.has(CHAT)).to.equal(false);
    expect(await room.isKept()).to.equal(false);
    const refused = room.enter(() => {
      throw new Error('the database is away');
    });
    expect(await refused.catch(({ message }) => message)).to.equal('the database is away');
    await settled();
    expect(await room.isKept(), 'while its socket is being removed').to.equal(false);
  });

  it('admits newcomers one after another, and answers each before it delivers what arrived meanwhile', async () => {
    const room = buildRoom();
    const answered = (name: string) => () => room.told.push(`answer to ${name}`);
    const first = room
      .enter(() => {
        room.push(room.store());
        room.pushRead(2, 1);
        room.pushChange('left');
        room.pushChange('back');
      }, 'first')
      .then(answered('first'));
    const second = room.enter(() => void room.told.push('second reads'), 'second').then(answered('second'));
    await Promise.all([first, second]);
    await settled();
    expect(room.told).to.deep.equal([
      'answer to first',
      'second reads',
      // Only to the first: the second has it in its answer.
      'message 1',
      'answer to second',
      ...['read 1', 'left', 'back'],
    ]);
    expect(room.leftOut).to.deep.equal(['second']);
    room.pushChange('at once');
    expect(room.told.at(-1)).to.equal('at once');
    expect(room.asked, 'reads').to.deep.equal([0]);
  });

  it('continues after a failed join', async () => {
    const room = await enteredRoom();
    const failing = room.enter(() => {
      room.push(room.store());
      throw new Error('the database is away');
    });
    const next = room.enter();
    expect(await failing.catch(({ message }) => message)).to.equal('the database is away');
    expect(await next).to.deep.equal({ seq: 1 });
    await settled();
    expect(room.shown).to.deep.equal([1]);
    room.push(room.store());
    expect(room.shown).to.deep.equal([1, 2]);
  });

  it('delivers to those inside only what the newcomer has read: the rest is for the newcomer, too', async () => {
    const room = await enteredRoom();
    room.store();
    room.inPagesOf(2);
    await room.enter(() => {
      for (let i = 0; i < 4; i += 1) room.store();
    }, 'newcomer');
    await settled();
    expect(room.shown).to.deep.equal([1]);
    await room.compare();
    await settled();
    expect(room.shown, 'page by page').to.deep.equal([1, 2, 3, 4, 5]);
    expect(room.leftOut).to.deep.equal(['newcomer', undefined, undefined, undefined, undefined]);
    expect(room.heard).to.deep.equal([1, 2, 3, 4, 5].map((seq) => `message ${seq}`));
    expect(room.gapsFilled).to.equal(5);
  });

  it('never repeats what was delivered, whatever a newcomer has read', async () => {
    const room = await enteredRoom();
    const [first, second] = [room.store(), room.store()];
    room.push(first);
    room.push(second);
    // The number of a join whose connection closed while it waited.
    await room.sequencer.enter(CHAT, 'gone', async () => ({ seq: -1 }));
    await settled();
    room.push(second);
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal([1, 2, 3]);
    expect(room.asked).to.deep.equal([]);
  });

  it('does not deliver to later members what those who have left did not receive', async () => {
    const room = await enteredRoom();
    const held = room.enter(() => {
      room.push(room.forged(3));
      room.pushRead(2, 3);
      room.leave();
    });
    await Promise.all([held, room.enter()]);
    await settled();
    expect(room.told).to.deep.equal([]);
    expect(room.asked, 'reads').to.deep.equal([]);
    room.push(room.store());
    expect(room.told).to.deep.equal(['message 1']);
  });

  it('ignores pushes of a room that nobody is in', async () => {
    const room = buildRoom();
    room.push(room.store());
    room.pushRead(2, 1);
    await settled();
    expect([room.told, room.heard, room.asked]).to.deep.equal([[], [], []]);
  });

  describe('counts as read by a member', () => {
    const cases: [what: string, message: object, told: string[]][] = [
      ['their own message, if they had read everything before it', { senderNo: 2 }, []],
      ['a message marked as read', { readCount: 0 }, []],
      ['no unread message', {}, ['read 1']],
      ['no unread message of a third member', { senderNo: 3 }, ['read 1']],
    ];
    for (const [what, message, told] of cases) {
      it(what, async () => {
        const room = await enteredRoom([1, 0], [2, 0]);
        room.push(room.store(message));
        room.pushRead(2, 1);
        expect(room.told).to.deep.equal(['message 1', ...told]);
        expect(room.heard.at(-1), 'in any case').to.equal('read 1 by 2');
      });
    }

    it('no message after an unread one, even if it is marked as read', async () => {
      const room = await enteredRoom([2, 0]);
      room.push(room.store());
      room.push(room.store({ readCount: 0 }));
      room.pushRead(2, 2);
      expect(room.told.at(-1)).to.equal('read 2');
    });

    it('what was known to be read when the first socket joined', async () => {
      const room = buildRoom();
      room.knows([2, 1]);
      for (let i = 0; i < 2; i += 1) room.store();
      await room.enter();
      await settled();
      // Those inside are not told what is known at a later join.
      room.knows([2, 2]);
      await room.enter();
      await settled();
      for (const seq of [1, 2]) room.pushRead(2, seq);
      expect(room.told).to.deep.equal(['read 2']);
    });
  });
});
