import { expect } from 'chai';
import { MongoNetworkTimeoutError } from 'mongodb';
import { Message } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import type { MessagePayload, RoomView } from '../../../domain/kernel/live.js';
import { openRoom } from '../../support/chat.js';
import { service } from '../../support/service.js';
import { connect } from '../../support/sockets.js';

type Method = (...args: unknown[]) => Promise<unknown>;

/** Runs a task while the next call of a collection's method is carried out and its answer lost. */
async function losingAnswer(
  { collection }: { collection: object },
  method: string,
  fits: (...args: unknown[]) => boolean,
  task: () => Promise<void>,
): Promise<void> {
  const methods = collection as Record<string, Method>;
  const original = methods[method] as Method;
  let lost = false;
  methods[method] = async (...args) => {
    const result = await original.apply(collection, args);
    if (lost || !fits(...args)) return result;
    lost = true;
    throw new MongoNetworkTimeoutError('the answer did not come in time');
  };
  try {
    await task();
    expect(lost, 'an answer was lost').to.equal(true);
  } finally {
    methods[method] = original;
  }
}

describe('a write whose outcome the process could not know', () => {
  it('34: reaches the peers of the room, and both members’ lists, though nothing follows it', async () => {
    // One process without Redis never compared: the message came with the next one that was sent.
    const { author, asker, chatNo } = await openRoom();
    const [sender, peer, list] = await Promise.all([connect(asker), connect(author), connect(author)]);
    await Promise.all([sender.join(chatNo), peer.join(chatNo)]);
    const content = 'stored, and nobody knows';
    await losingAnswer(
      Message,
      'insertMany',
      (records) => (records as { content: string }[]).some((record) => record.content === content),
      async () => {
        const answer = await sender.send(chatNo, content);
        expect(answer).to.include({ status: 503, message: 'SERVICE_UNAVAILABLE' });
      },
    );
    const message = await peer.next<MessagePayload>('message');
    expect(message).to.include({ content, seq: 1 });
    const told = await list.next<RoomView>('room', (room) => room.latestMessage?.context === content);
    const { body } = await author.get<RoomView[]>('/chatroom');
    expect(told).to.deep.equal(body[0]);
  });

  it('34: is told once, also when its sender repeats it', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [sender, peer] = await Promise.all([connect(asker), connect(author)]);
    await Promise.all([sender.join(chatNo), peer.join(chatNo)]);
    const request = { chatNo, contentType: 'text', content: 'again', clientId: 'k' };
    await losingAnswer(
      Message,
      'insertMany',
      (records) => (records as { content: string }[]).some((record) => record.content === 'again'),
      async () => {
        expect(await sender.ask('message:send', request)).to.include({ status: 503 });
      },
    );
    const again = await sender.ask<{ message: MessagePayload }>('message:send', request);
    expect(again).to.include({ status: 200 });
    await sender.ask('message:send', { ...request, content: 'next', clientId: 'k2' });
    await peer.next<MessagePayload>('message', ({ content }) => content === 'next');
    expect(peer.heard<MessagePayload>('message').map(({ seq }) => seq)).to.deep.equal([1, 2]);
  });

  it('moves a read position on everybody’s screen', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [sender, reader, list] = await Promise.all([connect(asker), connect(author), connect(author)]);
    await sender.join(chatNo);
    for (const content of ['one', 'two']) {
      await sender.send(chatNo, content);
    }
    await list.next<RoomView>('room', ({ unReadCount }) => unReadCount === 2);
    await losingAnswer(
      Room,
      'updateOne',
      (filter) => (filter as { _id: number })._id === chatNo,
      async () => {
        expect(await reader.ask('message:read', { chatNo, seq: 2 })).to.include({ status: 503 });
      },
    );
    expect(await sender.next('message:read')).to.deep.equal({ chatNo, memberNo: author.no, seq: 2 });
    await list.next<RoomView>('room', ({ unReadCount }) => unReadCount === 0);
  });
});

describe('a room whose state could not be read', () => {
  it('is told of when it can', async () => {
    // What was to be told was dropped: the list stayed behind until the room changed again.
    const { author, asker, chatNo } = await openRoom();
    const { domain } = await service();
    const [sender, list] = await Promise.all([connect(asker), connect(author)]);
    const post = domain.adoption.findPost;
    await sender.send(chatNo, 'before');
    await list.next<RoomView>('room', (room) => room.latestMessage?.context === 'before');
    const failed = new Promise<void>((resolve) => {
      domain.adoption.findPost = () => {
        resolve();
        return Promise.reject(new MongoNetworkTimeoutError('the database is away'));
      };
    });
    try {
      await sender.send(chatNo, 'meanwhile');
      await failed;
    } finally {
      domain.adoption.findPost = post;
    }
    await list.next<RoomView>('room', (room) => room.latestMessage?.context === 'meanwhile');
  });
});
