import { expect } from 'chai';
import { Message, type MessageRecord } from '../../../domain/chat/messages/message.model.js';
import { createUnseenMessages } from '../../../domain/chat/messages/unseen-messages.js';
import { createRoomStates } from '../../../domain/chat/rooms/room-states.js';
import { createEventBus } from '../../../domain/kernel/events.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { createLogger } from '../../../domain/platform/logger.js';
import { openRoom, push, storeMessages } from '../../support/chat.js';
import { eventually } from '../../support/eventually.js';
import { beforeInserts } from '../../support/inserts.js';
import { service } from '../../support/service.js';

const HOUR_MS = 3_600_000;

/** Marked messages as a crash leaves them. @param sentAt of the first one, epoch ms */
const strand = (chatNo: number, senderNo: number, count: number, sentAt = Date.now() - HOUR_MS) =>
  storeMessages(chatNo, senderNo, count, (i) => ({ sentAt: new Date(sentAt + i), unannounced: true }));

/** Numbers of rooms that are not there: the service under test cannot announce their messages meanwhile. */
let lastRoom = 900_000_000;
const SENDER = 2;

/** Announcements of one such room, as a process makes them that knows it; what is told is kept. */
async function announcer(chatNo: number, listen: (messageId: string) => Promise<void> = async () => {}) {
  await service();
  const events = createEventBus();
  const told: string[] = [];
  events.on('message.unseen', async (event) => {
    // Other tests may have left marks of their own.
    if (event.chatNo !== chatNo) return;
    told.push(event.messageId);
    await listen(event.messageId);
  });
  const nobody = { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } };
  const room = {
    ...{ chatNo, saleNo: 1, creator: 1, joiner: SENDER, createdAt: new Date(), seq: 0 },
    ...{ sent: { creator: 0, joiner: 0 }, read: nobody },
  };
  const known = createRoomStates();
  const unseen = createUnseenMessages({
    events,
    states: { ...known, get: async (no) => (no === chatNo ? room : known.get(no)) },
    presence: { isPresent: async () => false },
    markRead: async () => {},
    logger: createLogger('silent', 'test'),
  });
  return { unseen, told };
}

const marked = (chatNo: number) => Message.countDocuments({ chatNo, unannounced: true });

describe('messages for an absent recipient', () => {
  it('are answered before their notification is written, which follows by itself', async () => {
    const { author, asker, chatNo, saleNo } = await openRoom();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await beforeInserts(
      Notification,
      () => held,
      async () => {
        try {
          const answer = await asker.post('/chatroom/notification', push(chatNo, saleNo, 'hello'));
          expect(answer.status).to.equal(200);
          expect((await author.get<unknown[]>('/notification/all')).body).to.deep.equal([]);
          expect(await marked(chatNo), 'a crash now would lose it').to.equal(1);
        } finally {
          letGo();
        }
      },
    );
    await eventually(async () => {
      expect((await author.get<unknown[]>('/notification/all')).body).to.have.length(1);
      expect(await marked(chatNo)).to.equal(0);
    });
  });

  describe('of one process', () => {
    let chatNo: number;
    beforeEach(() => {
      lastRoom += 2;
      chatNo = lastRoom;
    });
    afterEach(() => Message.deleteMany({ chatNo: { $in: [chatNo, chatNo + 1] } }));

    it('are announced by the sweep, however many of missing rooms come before them', async () => {
      // A thousand of them filled each sweep, and the first one ended it.
      const orphans = 1_005;
      const { unseen, told } = await announcer(chatNo);
      await strand(chatNo + 1, SENDER, orphans, Date.now() - 2 * HOUR_MS);
      const records = await strand(chatNo, SENDER, 3);
      await unseen.sweep();
      await unseen.close();
      expect(told).to.deep.equal(records.map(({ _id }) => _id));
      expect(await marked(chatNo)).to.equal(0);
      expect(await marked(chatNo + 1), 'their rooms may be restored').to.equal(orphans);
    });

    it('are announced in the order they were sent, also when more are sent than fit into memory', async () => {
      let letGo = () => {};
      const held = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const { unseen, told } = await announcer(chatNo, () => held);
      const records = await strand(chatNo, SENDER, 7_000);
      for (const record of records) unseen.announce(record);
      letGo();
      await unseen.sweep();
      await unseen.close();
      expect(told).to.deep.equal(records.map(({ _id }) => _id));
      expect(await marked(chatNo)).to.equal(0);
    });

    it('are announced before a stop, or keep their mark', async () => {
      const { unseen, told } = await announcer(chatNo);
      const [first, second] = await strand(chatNo, SENDER, 2);
      unseen.announce(first as MessageRecord);
      await unseen.close();
      unseen.announce(second as MessageRecord);
      expect(told).to.deep.equal([first?._id]);
      expect(await Message.distinct('_id', { chatNo, unannounced: true })).to.deep.equal([second?._id]);
    });

    it('keep their mark when telling fails, and hold up no other', async () => {
      const records = await strand(chatNo, SENDER, 3);
      const { unseen } = await announcer(chatNo, async (id) => {
        if (id === records[1]?._id) throw new Error('the notification cannot be written');
      });
      await unseen.sweep();
      await unseen.close();
      expect(await Message.distinct('_id', { chatNo, unannounced: true })).to.deep.equal([records[1]?._id]);
    });
  });
});
