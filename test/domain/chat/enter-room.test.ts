import { expect } from 'chai';
import type { Chat } from '../../../domain/chat/index.js';
import { Message } from '../../../domain/chat/message.model.js';
import { newMessageId } from '../../../domain/kernel/ids.js';
import { noLive } from '../../../domain/kernel/live.js';
import { anotherChat, type OpenedRoom, openRoom, storeMessages } from '../../support/chat.js';
import { interceptCalls } from '../../support/database-calls.js';

/** Most messages in one join, and most bytes of their text as JSON. */
const MAX_CAUGHT_UP = 500;
const MAX_BYTES = 256 * 1024;

/** A chat of its own on the service's database, and the read positions it published. */
async function buildChat({ isInRoom = true } = {}) {
  const published: [memberNo: number, seq: number][] = [];
  const chat = await anotherChat({
    live: {
      ...noLive,
      isInRoom: () => isInRoom,
      messageRead: (_, { memberNo, seq }) => void published.push([memberNo, seq]),
    },
  });
  return { chat, published };
}

/** Stores messages of the asker with these texts, after those stored. */
async function fill({ chatNo, asker }: OpenedRoom, contents: string[], stored = 0): Promise<void> {
  await storeMessages(chatNo, asker.no, contents.length, (i) => {
    const seq = stored + i + 1;
    return { _id: newMessageId(), seq, content: contents[i] as string, sent: { creator: 0, joiner: seq } };
  });
}

/** Runs a task just before the missed messages are read. */
function beforeMissedAreRead(task: () => Promise<unknown>): void {
  const collection = Message.collection as unknown as Record<'find', (...args: unknown[]) => object>;
  const { find } = collection;
  collection.find = (...args) => {
    const cursor = find.apply(collection, args) as { toArray(): Promise<unknown> };
    const isMissed = Object.keys((args[0] as { seq?: object }).seq ?? {}).length > 0;
    if (!isMissed) return cursor;
    collection.find = find;
    const toArray = cursor.toArray.bind(cursor);
    return Object.assign(cursor, { toArray: async () => [await task(), await toArray()][1] });
  };
}

describe('entering a room', () => {
  let room: OpenedRoom;
  let chat: Chat;
  let published: [memberNo: number, seq: number][];
  beforeEach(async () => {
    room = await openRoom();
    ({ chat, published } = await buildChat());
  });
  afterEach(() => chat.close());

  const enter = (after?: number) => chat.enterRoom(room.author.actor, room.chatNo, { after }, 'author-1');
  const send = (content: string) => {
    const { asker, chatNo } = room;
    return chat.sendMessage(asker.actor, {
      chatNo,
      contentType: 'text',
      content,
      clientKey: `socket:${content}`,
    });
  };
  const unread = async () => {
    const { body } = await room.author.get<{ unReadCount: number }[]>('/chatroom');
    return body[0]?.unReadCount;
  };

  it('moves the read position over the other party’s messages, and publishes nothing for one’s own', async () => {
    const { asker, author, chatNo } = room;
    await send('hello?');
    await send('anybody there?');
    expect(await chat.enterRoom(asker.actor, chatNo, { after: 2 }, 'asker-1')).to.include({ seq: 2 });
    expect(published).to.deep.equal([]);
    await enter();
    expect(published).to.deep.equal([[author.no, 2]]);
    const { body } = await author.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList.map(({ readCount }) => readCount)).to.deep.equal([0, 0]);
  });

  it('marks a single message read before it answers', async () => {
    await fill(room, ['hello?']);
    await enter(1);
    expect(published).to.deep.equal([[room.author.no, 1]]);
    expect(await unread()).to.equal(0);
    await enter();
    expect(published, 'once').to.have.length(1);
  });

  it('marks nothing read for a connection that is gone by then', async () => {
    await chat.close();
    ({ chat, published } = await buildChat({ isInRoom: false }));
    await send('hello?');
    const { messages, present } = await enter();
    expect([messages.length, present, published]).to.deep.equal([1, [], []]);
    expect(await unread()).to.equal(1);
  });

  it('answers messages up to `seq`, and none that is written meanwhile', async () => {
    // It is delivered after `seq`, and would arrive twice.
    for (const after of [undefined, 1]) {
      const before = await send(`before, after ${after}`);
      beforeMissedAreRead(() => send(`meanwhile, after ${after}`));
      const { messages, seq, more } = await enter(after);
      expect([seq, messages.at(-1)?.seq, more]).to.deep.equal([before.seq, before.seq, false]);
    }
  });

  it('answers the numbers, who is present, and the other’s read position', async () => {
    const { asker, author, chatNo } = room;
    expect(await enter()).to.deep.equal({
      messages: [],
      from: 'newest',
      more: false,
      seq: 0,
      present: [author.no],
      otherRead: { memberNo: asker.no, seq: 0, others: 0 },
    });
    await chat.sendMessage(author.actor, { chatNo, contentType: 'text', content: 'hello' });
    await chat.sendMessage(author.actor, { chatNo, contentType: 'text', content: 'again' });
    await chat.markRead(asker.actor, chatNo, 1);
    const { messages, ...rest } = await enter(0);
    expect(rest).to.deep.equal({
      from: 'after',
      more: false,
      seq: 2,
      present: [author.no],
      otherRead: { memberNo: asker.no, seq: 1, others: 1 },
    });
    expect(messages.map(({ seq, readCount, senderName }) => [seq, readCount, senderName])).to.deep.equal([
      [1, 0, author.nickname],
      [2, 1, author.nickname],
    ]);
    expect((await enter(2)).messages).to.deep.equal([]);
    // Numbers have begun anew, as after a restore.
    const anew = await enter(3);
    expect([anew.from, anew.messages.map(({ seq }) => seq)]).to.deep.equal(['newest', [1, 2]]);
  });

  it('answers five hundred messages at most, and whether there are more', async () => {
    const texts = Array.from({ length: MAX_CAUGHT_UP }, (_, i) => `${i + 1}`);
    await fill(room, texts);
    const { messages, more } = await enter();
    expect([messages.length, more], 'just as many').to.deep.equal([MAX_CAUGHT_UP, false]);
    const count = MAX_CAUGHT_UP + 1;
    await fill(room, ['one more'], MAX_CAUGHT_UP);
    const cases: [after: number | undefined, first: number, last: number, more: boolean][] = [
      [undefined, 2, count, true],
      [0, 1, MAX_CAUGHT_UP, true],
      [1, 2, count, false],
      [count - 1, count, count, false],
    ];
    for (const [after, first, last, more] of cases) {
      const entered = await enter(after);
      const seqs = entered.messages.map(({ seq }) => seq);
      expect(seqs, `after ${after}`).to.deep.equal(
        Array.from({ length: last - first + 1 }, (_, i) => first + i),
      );
      expect(entered, `after ${after}`).to.include({ more, seq: count });
    }
  });

  it('limits the text for slow connections, and always answers one message', async () => {
    // As JSON strings two of them just fit, and a byte more does not.
    const half = 'x'.repeat(MAX_BYTES / 2 - 2);
    await fill(room, [half, half, `${half}y`, half, 'z'.repeat(MAX_BYTES)]);
    const cases: [after: number | undefined, seqs: number[], more: boolean][] = [
      [0, [1, 2], true],
      [1, [2], true],
      [2, [3], true],
      [3, [4], true],
      [4, [5], false],
      [undefined, [5], true],
    ];
    for (const [after, seqs, more] of cases) {
      const entered = await enter(after);
      expect(
        entered.messages.map(({ seq }) => seq),
        `after ${after}`,
      ).to.deep.equal(seqs);
      expect(entered.more, `after ${after}`).to.equal(more);
    }
  });

  it('finds several rooms requested together as it finds one', async () => {
    const second = await openRoom();
    await fill(second, ['1', '2']);
    await fill(room, ['1']);
    const asked = [
      chat.viewRoom(room.chatNo, room.author.no),
      chat.viewRoom(987_654_321, room.author.no).catch(({ code }: { code: string }) => code),
      chat.viewRoom(second.chatNo, second.author.no),
    ];
    const [one, missing, two] = await Promise.all(asked);
    expect(one).to.deep.include({ memberNo: room.author.no, mark: { seq: 1, read: 0 } });
    expect(two).to.deep.include({ memberNo: second.author.no, mark: { seq: 2, read: 0 } });
    expect(missing).to.equal('CHAT_ROOM_NOT_FOUND');
    const found: unknown[][] = [];
    const stop = interceptCalls([Message], async (_, call, run) => {
      const records = await run();
      if (call === 'find') found.push(records as unknown[]);
      return records;
    });
    try {
      expect(await chat.viewRoom(second.chatNo, second.author.no)).to.deep.equal(two);
    } finally {
      stop();
    }
    for (const records of found) expect(records, 'only the newest message').to.have.length(1);
    expect(found).not.to.deep.equal([]);
  });
});
