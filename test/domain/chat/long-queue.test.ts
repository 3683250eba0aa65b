import { expect } from 'chai';
import { Message } from '../../../domain/chat/messages/message.model.js';
import { openRoom } from '../../support/chat.js';
import { service } from '../../support/service.js';

/** Sends at once, four inserts of them, and how long, in ms, each takes: together longer than a send waits in vain. */
const SENDS = 250;
const INSERT_MS = 1_050;

describe('many sends to one room on a slow database', () => {
  it('are all stored, in their order: a queue that moves is waited for', async () => {
    const { asker, chatNo } = await openRoom();
    const { domain } = await service();
    const { insertMany } = Message.collection;
    Message.collection.insertMany = (async (...args: Parameters<typeof insertMany>) => {
      await new Promise((resolve) => setTimeout(resolve, INSERT_MS));
      return insertMany.apply(Message.collection, args);
    }) as typeof insertMany;
    try {
      const sends = Array.from({ length: SENDS }, (_, i) =>
        domain.chat.sendMessage(asker.actor, { chatNo, contentType: 'text', content: `${i}` }),
      );
      const payloads = await Promise.all(sends);
      expect(payloads.map(({ seq }) => seq)).to.deep.equal(payloads.map((_, i) => i + 1));
    } finally {
      Message.collection.insertMany = insertMany;
    }
  });
});
