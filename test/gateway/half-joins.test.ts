import { mock } from 'node:test';
import { expect } from 'chai';
import { Message } from '../../domain/chat/message.model.js';
import { newMessageId } from '../../domain/kernel/ids.js';
import { type OpenedRoom, openRoom } from '../support/chat.js';
import { eventually } from '../support/eventually.js';
import { type Client, connect, openSockets } from '../support/sockets.js';

/** What the driver throws when the database is away. */
const AWAY = Object.assign(new Error('the database is away'), { name: 'MongoNetworkError' });

describe('a join that does not come to its end', () => {
  let room: OpenedRoom;
  let asker: Client;
  let author: Client;

  beforeEach(async () => {
    room = await openRoom();
    [asker, author] = await Promise.all([connect(room.asker), connect(room.author)]);
    // Puts the room in memory: what is read below is read by the join itself.
    await asker.send(room.chatNo, 'hello?');
  });
  afterEach(() => mock.restoreAll());

  /** Lets this many reads of messages pass, the others wait and then do what `late` does. */
  function hold(passing: number, late: () => void = () => {}) {
    const { collection } = Message;
    const find = collection.find.bind(collection);
    let held = () => {};
    let release = () => {};
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    mock.method(collection, 'find', (...args: Parameters<typeof find>) => {
      calls += 1;
      if (calls <= passing) return find(...args);
      const cursor = find(...args);
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        held();
        await released;
        late();
        return toArray();
      };
      return cursor;
    });
    return { isHeld, release };
  }

  /** Makes all reads of messages fail past the first ones. */
  function failAfter(passing: number): void {
    hold(passing, () => {
      throw AWAY;
    }).release();
  }

  /** The author is out of the room, and everybody knows: messages are unread, notified and not delivered. */
  async function expectAuthorOut(): Promise<void> {
    const { chatNo } = room;
    const before = await unread();
    await asker.send(chatNo, 'are you there?');
    expect(await unread()).to.equal(before + 1);
    const { present } = await asker.join<{ present: number[] }>(chatNo);
    expect(present).to.deep.equal([room.asker.no]);
    // Somebody is in it: what is sent is told to all who are.
    await asker.send(chatNo, 'still not?');
    // Behind what was told before.
    if (author.socket.connected) await author.ask('message:read', { chatNo, seq: 0 });
    expect(author.heard('message')).to.deep.equal([]);
  }

  async function unread(): Promise<number> {
    const { body } = await room.author.get<{ unReadCount: number }[]>('/chatroom');
    return body[0]?.unReadCount as number;
  }

  it('leaves nobody present when the room’s state cannot be read', async () => {
    // The member stayed present until the process ended: each message to them counted as read.
    failAfter(0);
    expect(await author.join(room.chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('leaves nobody present when what was missed cannot be read', async () => {
    failAfter(1);
    expect(await author.join(room.chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('leaves nobody in the room when those who were in before cannot be caught up', async () => {
    // The newcomer was told that the join had failed, and stayed in the room all the same.
    const { chatNo } = room;
    await asker.join(chatNo);
    const last = await Message.findOne({ chatNo, seq: 1 }).lean();
    // As another process writes it whose push was lost.
    const sent = { creator: 0, joiner: 2 };
    await Message.create({ ...last, _id: newMessageId(), seq: 2, sent, clientKey: 'socket:2' });
    failAfter(2);
    expect(await author.join(chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await expectAuthorOut();
  });

  it('tells the room that its member has come and gone', async () => {
    const { chatNo } = room;
    await asker.join(chatNo);
    failAfter(0);
    await author.join(chatNo);
    mock.restoreAll();
    await asker.next('presence', (e: { present: boolean }) => !e.present);
    const { no } = room.author;
    expect(asker.heard<{ memberNo: number }>('presence').filter((e) => e.memberNo === no)).to.deep.equal([
      { chatNo, memberNo: no, present: true },
      { chatNo, memberNo: no, present: false },
    ]);
  });

  it('tells who is present, and behind it who has left since', async () => {
    // The change came before the answer, which had been put together by then: the other stayed present for ever.
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
    await asker.next('presence', (e: { present: boolean }) => !e.present);
    expect(told[0]).to.deep.equal([room.author.no, room.asker.no].sort((a, b) => a - b));
    expect(told.at(-1)).to.deep.equal({ chatNo, memberNo: room.author.no, present: false });
  });

  it('leaves a connection in the room that was in it before', async () => {
    const { chatNo } = room;
    await author.join(chatNo);
    failAfter(0);
    expect(await author.join(chatNo)).to.include({ status: 503 });
    mock.restoreAll();
    await asker.send(chatNo, 'are you there?');
    await author.next('message');
    expect(await unread()).to.equal(0);
  });

  const closes = (end: () => void) => async () => {
    const before = await openSockets();
    end();
    await eventually(async () => expect(await openSockets()).to.equal(before - 1));
  };
  const endings = {
    'goes away': closes(() => author.socket.io.engine.close()),
    'leaves the namespace': closes(() => void author.socket.disconnect()),
    'is taken out of the room': async () => {
      const { email, post } = room.author;
      await post(`/chatroom/${room.chatNo}`, { email });
    },
  };
  for (const [how, end] of Object.entries(endings)) {
    it(`leaves nobody present whose client ${how} meanwhile`, async () => {
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
