import { expect } from 'chai';
import { Message } from '../../../domain/chat/message.model.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { anotherChat, contentsOf, openRoom, storeMessages } from '../../support/chat.js';

describe('messages of a process that was killed before it notified of them', () => {
  for (const [what, isStored] of [
    ['the room before them', false],
    ['them as unread', true],
  ] as const) {
    it(`are not announced by the sweep of a process that knows ${what}, if they are read elsewhere`, async () => {
      const { author, asker, chatNo } = await openRoom();
      const events = createEventBus();
      const announced: string[] = [];
      events.on('message.unannounced', async (event) => {
        if (event.chatNo === chatNo) announced.push(event.messageId);
      });
      const chat = await anotherChat({ events });
      const store = () => storeMessages(chatNo, asker.no, 1, () => ({ unannounced: true }));
      if (isStored) await store();
      await chat.requireParticipant(author.actor, chatNo);
      if (!isStored) await store();
      // Through a third process.
      expect(await contentsOf(author, chatNo)).to.deep.equal(['0']);
      await chat.sweep();
      await chat.close();
      expect(announced).to.deep.equal([]);
      expect(await Message.countDocuments({ chatNo, unannounced: true })).to.equal(0);
    });
  }
});
