import { expect } from 'chai';
import { createChat } from '../../../domain/chat/index.js';
import { Message } from '../../../domain/chat/messages/message.model.js';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { type MessagePayload, noLive } from '../../../domain/kernel/live.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { openRoom } from '../../support/chat.js';
import { service } from '../../support/service.js';

describe('a send whose outcome the client could not know', () => {
  it('is delivered when it is repeated: it may have been stored and never delivered', async () => {
    const { asker, author, chatNo } = await openRoom();
    const { domain, config } = await service();
    const delivered: MessagePayload[] = [];
    const chat = createChat({
      clock: systemClock,
      events: createEventBus(),
      live: { ...noLive, message: (payload) => delivered.push(payload) },
      logger: createLogger('silent', 'test'),
      config,
      directory: domain.members.directory,
      adoption: domain.adoption,
    });
    // What a process leaves that dies, or gives up waiting for the database, right after the write.
    await Message.create({
      _id: 'stored-and-no-more',
      chatNo,
      seq: 1,
      senderNo: asker.no,
      contentType: 'text',
      content: 'hello?',
      sentAt: new Date(),
      sent: { creator: 0, joiner: 1 },
      read: { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } },
      clientKey: 'socket:k1',
    });
    const input = { chatNo, contentType: 'text', content: 'hello?', clientKey: 'socket:k1' } as const;
    const answer = await chat.sendMessage(asker.actor, input);
    await chat.close();
    expect(answer.id).to.equal('stored-and-no-more');
    expect(delivered.map(({ id, seq }) => [id, seq])).to.deep.equal([['stored-and-no-more', 1]]);
    const { body } = await author.get<{ chatList: unknown[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList).to.have.length(1);
  });
});
