import { mock } from 'node:test';
import { expect } from 'chai';
import { Message } from '../../../domain/chat/message.model.js';
import { newMessageId } from '../../../domain/kernel/ids.js';
import { type OpenedRoom, openRoom, unreadOf } from '../../support/chat.js';
import { eventually, gate } from '../../support/eventually.js';
import { type Client, connect, nextPresence, openSockets } from '../../support/sockets.js';
import { later } from '../../support/time.js';

/** The driver’s error when the database does not answer. */
const AWAY = Object.assign(new Error('the database is away'), { name: 'MongoNetworkError' });

describe('a join that fails or is overtaken', () => {
  let room: OpenedRoom;
  let asker: Client;
  let author: Client;

  beforeEach(async () => {
    room = await openRoom();
    [asker, author] = await Promise.all([connect(room.asker), connect(room.author)]);
    // Loads the room into memory: all reads below are those of the join.
    await asker.send(room.chatNo, 'hello?');
  });
  afterEach(() => mock.restoreAll());

  /** Lets this many reads of messages pass; the others wait for `release`, and call `late` before they read. */
  function hold(passing: number, late: () => void = () => {}) {
    const { collection } = Message;
    const find = collection.find.bind(collection);
    const [held, released] = [gate(), gate()];
    let calls = 0;
    mock.method(collection, 'find', (...args: Parameters<typeof find>) => {
      calls += 1;
      if (calls <= passing) return find(...args);
      const cursor = find(...args);
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        held.open();
        await released.opened;
        late();
        return toArray();
      };
      return cursor;
    });
    return { isHeld: held.opened, release: released.open };
  }

  /** Lets this many reads of messages pass, and makes the others fail. */
  function failAfter(passing: number): void {
    hold(passing, () => {
      throw AWAY;
    }).release();
  }

  /** The author is absent for everyone: messages stay unread and are not delivered to the author’s socket. */
  async function expectAuthorOut(): Promise<void> {
    const { chatNo } = room;
    const before = (await unreadOf(room.author)) as number;
    await asker.send(chatNo, 'are you there?');
    expect(await unreadOf(room.author)).to.equal(before + 1);
    const { present } = await asker.join<{ present: number[] }>(chatNo);
    expect(present).to.deep.equal([room.asker.no]);
    // The asker is in the room, so this message is delivered to all sockets in it.
    await asker.send(chatNo, 'still not?');
    // Its answer arrives after any event sent before.
    if (author.socket.connected) await author.ask('message:read', { chatNo, seq: 0 });
    expect(author.heard('message')).to.deep.equal([]);
  }

  it('leaves nobody present when the room’s state cannot be read', async () => {
    // The member stayed present until the process ended: each message to them counted as read.
    failAfter(0);
    expect(await author.join(room.chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('leaves nobody present when the missed messages cannot be read', async () => {
    failAfter(1);
    expect(await author.join(room.chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('leaves the newcomer out of the room when those inside cannot be caught up', async () => {
    // The newcomer was told that the join had failed, and stayed in the room all the same.
    const { chatNo } = room;
    await asker.join(chatNo);
    const last = await Message.findOne({ chatNo, seq: 1 }).lean();
    // As stored by another process whose push was lost.
    const sent = { creator: 0, joiner: 2 };
    await Message.create({ ...last, _id: newMessageId(), seq: 2, sent, clientKey: 'socket:2' });
    failAfter(2);
    expect(await author.join(chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('tells the room that the member came and left', async () => {
    const { chatNo } = room;
    await asker.join(chatNo);
    failAfter(0);
    await author.join(chatNo);
    mock.restoreAll();
    await nextPresence(asker, false);
    const { no } = room.author;
    expect(asker.heard<{ memberNo: number }>('presence').filter((e) => e.memberNo === no)).to.deep.equal([
      { chatNo, memberNo: no, present: true },
      { chatNo, memberNo: no, present: false },
    ]);
  });

  it('sends the list of those present before the event that one of them left', async () => {
    // The event arrived before the answer, whose list was older: the other member stayed present for ever.
    const { chatNo } = room;
    await author.join(chatNo);
    const told: unknown[] = [];
    asker.socket.on('presence', (event) => told.push(event));
    const { isHeld, release } = hold(1);
    const joined = new Promise<void>((resolve) => {
      asker.socket.emit('room:join', { chatNo }, ({ present }: { present: number[] }) => {
        told.push(present);
        resolve();
      });
    });
    await isHeld;
    await author.ask('room:leave', { chatNo });
    release();
    await joined;
    await nextPresence(asker, false);
    expect(told[0]).to.deep.equal([room.author.no, room.asker.no].sort((a, b) => a - b));
    expect(told.at(-1)).to.deep.equal({ chatNo, memberNo: room.author.no, present: false });
  });

  it('keeps a connection in the room that was in it before', async () => {
    const { chatNo } = room;
    await author.join(chatNo);
    failAfter(0);
    expect(await author.join(chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await asker.send(chatNo, 'are you there?');
    await author.next('message');
    expect(await unreadOf(room.author)).to.equal(0);
  });

  it('tells the member’s other clients that all is read, also if it is followed by a leave at once', async () => {
    // The state of the room waited for the join, and was dropped when nobody was in the room any more.
    const { chatNo } = room;
    const list = await connect(room.author);
    await later(1_000, async () => {
      void author.join(chatNo);
      await author.ask('room:leave', { chatNo });
    });
    await list.next<{ unReadCount: number }>('room', ({ unReadCount }) => unReadCount === 0);
  });

  const closes = (end: () => void) => async () => {
    const before = await openSockets();
    end();
    await eventually(async () => expect(await openSockets()).to.equal(before - 1));
  };
  const endings = {
    disconnects: closes(() => author.socket.io.engine.close()),
    'leaves the namespace': closes(() => void author.socket.disconnect()),
    'is removed from the room': async () => {
      const { email, post } = room.author;
      await post(`/chatroom/${room.chatNo}`, { email });
    },
  };
  for (const [how, end] of Object.entries(endings)) {
    it(`leaves nobody present if the client ${how} meanwhile`, async () => {
      const { isHeld, release } = hold(0);
      author.socket.emit('room:join', { chatNo: room.chatNo });
      await isHeld;
      await end();
      release();
      mock.restoreAll();
      await expectAuthorOut();
    });
  }
});
