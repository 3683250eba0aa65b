import { expect } from 'chai';
import { createChat } from '../../../domain/chat/index.js';
import { systemClock } from '../../../domain/kernel/clock.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { noLive } from '../../../domain/kernel/live.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { openRoom } from '../../support/chat.js';
import { service } from '../../support/service.js';

describe('entering a room', () => {
  it('moves the read position over the other party’s messages, and tells nothing of one’s own', async () => {
    const { asker, author, chatNo } = await openRoom();
    const { domain, config } = await service();
    const told: [memberNo: number, seq: number][] = [];
    const chat = createChat({
      clock: systemClock,
      events: createEventBus(),
      live: {
        ...noLive,
        isInRoom: () => true,
        messageRead: (_, { memberNo, seq }) => void told.push([memberNo, seq]),
      },
      logger: createLogger('silent', 'test'),
      config,
      directory: domain.members.directory,
      adoption: domain.adoption,
    });
    const send = (content: string) =>
      chat.sendMessage(asker.actor, { chatNo, contentType: 'text', content, clientKey: `socket:${content}` });
    await send('hello?');
    await send('anybody there?');
    expect(await chat.enterRoom(asker.actor, chatNo, 2, 'asker-1')).to.include({ seq: 2 });
    expect(told).to.deep.equal([]);
    await chat.enterRoom(author.actor, chatNo, undefined, 'author-1');
    await chat.close();
    expect(told).to.deep.equal([[author.no, 2]]);
    const { body } = await author.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
    expect(body.chatList.map(({ readCount }) => readCount)).to.deep.equal([0, 0]);
  });
});
