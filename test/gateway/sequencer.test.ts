import { expect } from 'chai';
import { buildRoom, CHAT, enteredRoom, settled } from './sequenced-room.js';

describe('the sequencer', () => {
  it('passes on what comes in turn, drops repeats, and fills a jump from the database', async () => {
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

  it('gives those inside what a newcomer has read and they have not', async () => {
    const room = await enteredRoom();
    room.store();
    await room.enter();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('finds what was lost without a push behind it by comparing', async () => {
    const room = await enteredRoom();
    room.store();
    await room.compare();
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('tells a read position behind the message that it reaches to, whichever comes first', async () => {
    // Two processes: the reader's push overtook the sender's, and the message showed as unread for good.
    const room = await enteredRoom();
    const message = { ...room.store(), senderNo: 1, readCount: 1 };
    room.pushRead(2, 1);
    room.push(message);
    await settled();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
  });

  it('tells read positions forward only, and once', async () => {
    const room = await enteredRoom();
    for (let i = 0; i < 3; i += 1) room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    for (const seq of [1, 3, 2, 3]) room.pushRead(2, seq);
    expect(room.told.filter((one) => one.startsWith('read'))).to.deep.equal(['read 1', 'read 3']);
  });

  it('finds read positions that were lost by comparing', async () => {
    const room = await enteredRoom();
    room.push({ ...room.store(), senderNo: 1, readCount: 1 });
    room.reads.set(2, 1);
    // Who has read nothing has no position to tell.
    room.reads.set(3, 0);
    await room.compare();
    await room.compare();
    expect(room.told).to.deep.equal(['message 1', 'read 1']);
  });

  it('lets go of a room whose last socket went while it was entering', async () => {
    // The end of the join set the number that the leave had taken back: the room was followed for ever,
    // compared every five seconds, and kept in memory, though nobody was in it.
    const room = buildRoom();
    await room.enter(room.leave);
    await settled();
    expect(await room.isKept()).to.equal(false);
  });

  it('lets go of a room whose last socket went while it was read on', async () => {
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

  it('goes on with a room that was left and entered again meanwhile', async () => {
    const room = buildRoom();
    await room.enter(room.leave);
    await room.enter();
    await settled();
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal([1]);
  });

  it('lets go of a room with its last socket, and of one that nobody came into', async () => {
    const room = await enteredRoom();
    expect(room.sequencer.follows(CHAT)).to.equal(true);
    room.leave();
    expect(room.sequencer.follows(CHAT)).to.equal(false);
    expect(await room.isKept()).to.equal(false);
    const refused = room.enter(() => {
      throw new Error('the database is away');
    });
    expect(await refused.catch(({ message }) => message)).to.equal('the database is away');
    await settled();
    expect(await room.isKept(), 'its socket is still being taken out').to.equal(false);
  });

  it('lets newcomers in one after another, and answers each before anything that came meanwhile', async () => {
    const room = buildRoom();
    const answered = (name: string) => () => room.told.push(`answer to ${name}`);
    const first = room
      .enter(() => {
        room.push(room.store());
        room.pushRead(2, 1);
        room.pushPresence('left');
        room.pushPresence('back');
      }, 'first')
      .then(answered('first'));
    const second = room.enter(() => void room.told.push('second reads'), 'second').then(answered('second'));
    await Promise.all([first, second]);
    await settled();
    expect(room.told).to.deep.equal([
      'answer to first',
      'second reads',
      // To the first alone: the second has it in its answer.
      'message 1',
      'answer to second',
      ...['read 1', 'left', 'back'],
    ]);
    expect(room.leftOut).to.deep.equal(['second']);
    room.pushPresence('at once');
    expect(room.told.at(-1)).to.equal('at once');
    expect(room.asked, 'reads').to.deep.equal([0]);
  });

  it('goes on behind a join that fails', async () => {
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

  it('gives those inside what the newcomer has read and no more: the rest is for the newcomer, too', async () => {
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

  it('never goes back behind what was told, whatever a newcomer has read', async () => {
    const room = await enteredRoom();
    const [first, second] = [room.store(), room.store()];
    room.push(first);
    room.push(second);
    // Its connection was closed while it waited.
    await room.sequencer.enter(CHAT, 'gone', async () => ({ seq: -1 }));
    await settled();
    room.push(second);
    room.push(room.store());
    await settled();
    expect(room.shown).to.deep.equal([1, 2, 3]);
    expect(room.asked).to.deep.equal([]);
    expect(room.entered, 'looks at what is known of the room').to.equal(1);
  });

  it('tells nobody who comes in later what those who have left did not get', async () => {
    const room = await enteredRoom();
    const held = room.enter(() => {
      room.push(room.forged(3));
      room.pushRead(2, 3);
      room.pushPresence('left');
      room.leave();
    });
    await Promise.all([held, room.enter()]);
    await settled();
    expect(room.told).to.deep.equal([]);
    expect(room.asked, 'reads').to.deep.equal([]);
    room.push(room.store());
    expect(room.told).to.deep.equal(['message 1']);
  });

  it('hears of no room that nobody is in', async () => {
    const room = buildRoom();
    room.push(room.store());
    room.pushRead(2, 1);
    await settled();
    expect([room.told, room.heard, room.asked]).to.deep.equal([[], [], []]);
  });

  describe('takes a member to have read', () => {
    const cases: [what: string, message: object, told: string[]][] = [
      ['a message of theirs, where they had read everything before it', { senderNo: 2 }, []],
      ['one that says it is read', { readCount: 0 }, []],
      ['none that is unread', {}, ['read 1']],
      ['no unread message of another one', { senderNo: 3 }, ['read 1']],
    ];
    for (const [what, message, told] of cases) {
      it(what, async () => {
        const room = await enteredRoom([1, 0], [2, 0]);
        room.push(room.store(message));
        room.pushRead(2, 1);
        expect(room.told).to.deep.equal(['message 1', ...told]);
        expect(room.heard.at(-1), 'all the same').to.equal('read 1 by 2');
      });
    }

    it('not one behind an unread one, whatever it says', async () => {
      const room = await enteredRoom([2, 0]);
      room.push(room.store());
      room.push(room.store({ readCount: 0 }));
      room.pushRead(2, 2);
      expect(room.told.at(-1)).to.equal('read 2');
    });

    it('what was known when the first one came in', async () => {
      const room = buildRoom();
      room.knows([2, 1]);
      for (let i = 0; i < 2; i += 1) room.store();
      await room.enter();
      await settled();
      for (const seq of [1, 2]) room.pushRead(2, seq);
      expect(room.told).to.deep.equal(['read 2']);
    });
  });
});
