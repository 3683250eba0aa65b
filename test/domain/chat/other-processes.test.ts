import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { createChatState } from '../../../domain/chat/index.js';
import { Message } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import { anotherChat, type OpenedRoom, openRoom, push, storeMessages } from '../../support/chat.js';
import { beforeInserts, interceptCalls } from '../../support/database-calls.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../../support/service.js';
import { later } from '../../support/time.js';
import { recording } from './recording.js';

describe('one process of several', () => {
  let room: OpenedRoom;
  beforeEach(async () => {
    room = await openRoom();
  });

  it('delivers a repeated message again: it may have been stored but not delivered', async () => {
    const { asker, author, chatNo } = room;
    const { messages, rooms, live } = recording();
    const chat = await anotherChat({ live });
    await chat.requireParticipant(asker.actor, chatNo);
    // As after a crash, or a time-out, right after the write.
    const [stored] = await storeMessages(chatNo, asker.no, 1, () => ({
      clientKey: 'socket:k1',
      read: { creator: { seq: 1, others: 1 }, joiner: { seq: 0, others: 0 } },
    }));
    const input = { chatNo, contentType: 'text', content: '0', clientKey: 'socket:k1' } as const;
    const answer = await chat.sendMessage(asker.actor, input);
    expect([answer.id, answer.seq, answer.readCount]).to.deep.equal([stored?._id, 1, 0]);
    expect(messages).to.deep.equal([answer]);
    await eventually(() =>
      expect(rooms).to.deep.equal([
        [author.no, { seq: 1, read: 1 }],
        [asker.no, { seq: 1, read: 0 }],
      ]),
    );
    await chat.close();
    const { body } = await author.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList).to.have.length(1);
  });

  it('moves a read position over messages of other processes, and never back', async () => {
    const { asker, author, chatNo } = room;
    const unread = async () =>
      (await author.get<{ unReadCount: number }[]>('/chatroom')).body[0]?.unReadCount;
    const { reads, live } = recording();
    const [one, two] = await Promise.all([anotherChat({ live }), anotherChat()]);
    await one.requireParticipant(author.actor, chatNo);
    await storeMessages(chatNo, asker.no, 3);
    await two.requireParticipant(author.actor, chatNo);
    for (const seq of [2, 2, 1]) await one.markRead(author.actor, chatNo, seq);
    expect(reads).to.deep.equal([[author.no, 2]]);
    expect(await unread()).to.equal(1);
    // This process does not know of it.
    await two.markRead(author.actor, chatNo, 1);
    expect(await unread()).to.equal(1);
    await Promise.all([one.close(), two.close()]);
  });

  it('shows with its next message a read position that a killed process has stored and not published', async () => {
    const { asker, author, chatNo } = room;
    const { rooms, live } = recording();
    // As a process without sockets: no pushes arrive there.
    const [chat, killed] = await Promise.all([
      anotherChat({ live, ...createChatState(live), shared: true }),
      anotherChat(),
    ]);
    const text = { chatNo, contentType: 'text', content: 'unread' } as const;
    const shown = () => rooms.filter(([memberNo]) => memberNo === author.no).map(([, mark]) => mark);
    await chat.sendMessage(asker.actor, text);
    await eventually(() => expect(shown()).to.deep.equal([{ seq: 1, read: 0 }]));
    await killed.markRead(author.actor, chatNo, 1);
    await chat.sendMessage(asker.actor, text);
    await eventually(() => expect(shown().slice(1)).to.deep.equal([{ seq: 2, read: 1 }]));
    await Promise.all([chat.close(), killed.close()]);
  });

  it('keeps the further of two read positions written at once', async () => {
    const { asker, author, chatNo } = room;
    await storeMessages(chatNo, asker.no, 2);
    const { reads, live } = recording();
    const chat = await anotherChat({ live });
    const { updateOne } = Room.collection;
    let release = () => {};
    Room.collection.updateOne = (async (...args: Parameters<typeof updateOne>) => {
      Room.collection.updateOne = updateOne;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return updateOne.apply(Room.collection, args);
    }) as typeof updateOne;
    try {
      await chat.requireParticipant(author.actor, chatNo);
      const first = chat.markRead(author.actor, chatNo, 1);
      await eventually(() => expect(Room.collection.updateOne).to.equal(updateOne));
      await chat.markRead(author.actor, chatNo, 2);
      release();
      await first;
    } finally {
      Room.collection.updateOne = updateOne;
    }
    expect(chat.knownHead(chatNo)?.reads).to.deep.equal([
      { memberNo: author.no, seq: 2, others: 2 },
      { memberNo: asker.no, seq: 0, others: 0 },
    ]);
    expect(reads[0]).to.deep.equal([author.no, 2]);
    await chat.close();
  });

  it('marks messages read whose writer took the present recipient for absent', async () => {
    const { asker, author, chatNo } = room;
    const { domain } = await service();
    const { reads, live } = recording();
    const inRoom = { ...live, isInRoom: () => true };
    const chat = await anotherChat({ live: inRoom, ...createChatState(inRoom), shared: true });
    await chat.enterRoom(author.actor, chatNo, {}, 'connection');
    const input = { chatNo, contentType: 'text', content: 'are you there?' } as const;
    const sent = await domain.chat.sendMessage(asker.actor, input);
    expect(sent.readCount).to.equal(1);
    chat.noteMessage(sent);
    await eventually(() => expect(reads).to.deep.equal([[author.no, 1]]));
    await chat.close();
    const { body } = await asker.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList.map(({ readCount }) => readCount)).to.deep.equal([0]);
  });

  it('answers with read positions stored by other processes', async () => {
    const { asker, author, saleNo, chatNo } = room;
    const { domain } = await service();
    await domain.chat.requireParticipant(asker.actor, chatNo);
    const other = await anotherChat();
    const sendAndRead = async (content: string) => {
      const sent = await other.sendMessage(asker.actor, { chatNo, contentType: 'text', content });
      await other.markRead(author.actor, chatNo, sent.seq);
      return sent;
    };
    const { sendTime } = await sendAndRead('one');
    const copy = push(chatNo, saleNo, 'one', { senderNo: asker.no, sendTime });
    const { body } = await asker.post<{ readCount: number }>('/chatroom/notification', copy);
    expect(body.readCount).to.equal(0);
    await sendAndRead('two');
    const list = await asker.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList.map(({ readCount }) => readCount)).to.deep.equal([0, 0]);
    await other.close();
  });

  it('reads a long room by pages, and republishes all of it after a write of unknown outcome', async () => {
    const { asker, author, saleNo, chatNo } = room;
    const { messages, reads, live } = recording();
    const chat = await anotherChat({ live });
    await chat.requireParticipant(asker.actor, chatNo);
    const count = 1_001;
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
    await storeMessages(chatNo, asker.no, count);
    const { domain } = await service();
    const readAfter = async (seq: number) =>
      (await domain.chat.readAfter(chatNo, seq)).map((message) => message.seq);
    expect(await readAfter(0)).to.deep.equal(numbers(1, 500));
    expect(await readAfter(900)).to.deep.equal(numbers(901, count));
    expect(await readAfter(count)).to.deep.equal([]);

    const { body } = await author.get<{ chatList: { content: string }[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList.map(({ content }) => Number(content) + 1)).to.deep.equal(numbers(2, count));
    // A broadcast posted back without its id is searched for equally far back.
    const back = (content: string) =>
      author.post(
        '/chatroom/notification',
        push(chatNo, saleNo, content, { senderNo: asker.no, sendTime: 1 }),
      );
    expect((await back('0')).status).to.equal(404);
    expect((await back('1')).body).to.include({ id: `stored-${chatNo}-1` });

    const failure = new MongoNetworkTimeoutError('the answer did not come in time');
    await beforeInserts(
      Message,
      () => Promise.reject(failure),
      async () => {
        const input = { chatNo, contentType: 'text', content: 'unknown' } as const;
        const outcome = await chat.sendMessage(asker.actor, input).catch((error: unknown) => error);
        expect(outcome).to.equal(failure);
      },
    );
    await eventually(() => expect(reads).to.deep.equal([[author.no, count]]));
    expect(messages.map(({ seq }) => seq)).to.deep.equal(numbers(1, count));
    await chat.close();
  });

  it('reports a room while the database does not answer a write to it: the message may be stored', async () => {
    const { asker, author, chatNo } = room;
    const chat = await anotherChat();
    await storeMessages(chatNo, asker.no, 1);
    await chat.requireParticipant(author.actor, chatNo);
    const unsure = () => later(2_000, async () => chat.writtenSince(Number.POSITIVE_INFINITY).unsure);
    const asked: unknown[] = [await unsure()];
    const around = async (_model: unknown, call: string, run: () => Promise<unknown>) => {
      const answer = await run();
      if (call === 'insertMany') asked.push(await unsure());
      return answer;
    };
    const stop = interceptCalls([Message], around);
    const text = { chatNo, contentType: 'text', content: 'stored, and not answered' } as const;
    await chat.sendMessage(author.actor, text).finally(stop);
    expect(asked).to.deep.equal([[], [chatNo]]);
    expect(await later(10_000, async () => chat.writtenSince(Number.POSITIVE_INFINITY).unsure)).to.deep.equal(
      [],
    );
    await chat.close();
  });
});
