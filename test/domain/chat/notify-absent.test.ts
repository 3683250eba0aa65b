import { expect } from 'chai';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import { NotifyAbsent } from '../../../domain/chat/notify-absent.js';
import { createRoomStates } from '../../../domain/chat/room-states.js';
import { createEventBus, type DomainEvents } from '../../../domain/kernel/events.js';
import { Notification } from '../../../domain/notifications/notification.model.js';
import { createLogger } from '../../../domain/platform/observe/logger.js';
import { messageRecords, openRoom, push, roomState, storeMessages } from '../../support/chat.js';
import { beforeInserts } from '../../support/database-calls.js';
import { eventually, gate } from '../../support/eventually.js';
import { service } from '../../support/service.js';
import { inStoppedTime } from '../../support/time.js';

const HOUR_MS = 3_600_000;

/** Marked messages as a crash leaves them. @param sentAt of the first one, epoch ms */
const strand = (chatNo: number, senderNo: number, count: number, sentAt = Date.now() - HOUR_MS) =>
  storeMessages(chatNo, senderNo, count, (i) => ({ sentAt: new Date(sentAt + i), unannounced: true }));

/** Numbers of rooms that do not exist, so that the service under test does not announce their messages. */
let lastRoom = 900_000_000;
const CREATOR = 1;
const SENDER = 2;

/**
 * A process that knows one such room, and what it has announced.
 * @param readUpTo read position of the creator, until they enter the room
 */
async function announcer(
  chatNo: number,
  {
    listen = async () => {},
    isPresent = false,
    readUpTo = 0,
  }: { listen?: (messageId: string) => Promise<void>; isPresent?: boolean; readUpTo?: number } = {},
) {
  await service();
  const events = createEventBus();
  const announced: string[] = [];
  const all: DomainEvents['message.unannounced'][] = [];
  events.on('message.unannounced', async (event) => {
    // Other tests may have left marks.
    if (event.chatNo !== chatNo) return;
    announced.push(event.messageId);
    all.push(event);
    await listen(event.messageId);
  });
  const read = { creator: { seq: readUpTo, others: readUpTo }, joiner: { seq: 0, others: 0 } };
  const room = roomState({ chatNo, read });
  const known = createRoomStates();
  const find = async (no: number) => (no === chatNo ? room : known.get(no));
  const notifyAbsent = new NotifyAbsent({
    events,
    states: { get: find, load: find },
    presence: { isPresent: async (no, memberNo) => isPresent && no === chatNo && memberNo === CREATOR },
    markRead: async (_, memberNo, seq) => {
      if (memberNo === CREATOR && seq > room.read.creator.seq) room.read.creator = { seq, others: seq };
    },
    logger: createLogger('silent', 'test'),
  });
  return { notifyAbsent, announced, all };
}

const marked = (chatNo: number) => Message.countDocuments({ chatNo, unannounced: true });

describe('messages for an absent recipient', () => {
  it('are acknowledged before their notification is stored', async () => {
    const { author, asker, chatNo, saleNo } = await openRoom();
    const { open: release, opened: held } = gate();
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
          release();
        }
      },
    );
    await eventually(async () => {
      expect((await author.get<unknown[]>('/notification/all')).body).to.have.length(1);
      expect(await marked(chatNo)).to.equal(0);
    });
  });

  it('are announced by the sweep after a crash', async () => {
    const { author, asker, chatNo } = await openRoom();
    await strand(chatNo, asker.no, 1);
    await (await service()).domain.chat.sweep();
    expect((await author.get<unknown[]>('/notification/all')).body).to.have.length(1);
    expect(await marked(chatNo)).to.equal(0);
  });

  describe('of one process', () => {
    let chatNo: number;
    beforeEach(() => {
      lastRoom += 2;
      chatNo = lastRoom;
    });
    afterEach(() => Message.deleteMany({ chatNo: { $in: [chatNo, chatNo + 1] } }));

    it('are announced by the sweep, however many messages of missing rooms precede them', async () => {
      // More than one batch.
      const orphans = 1_005;
      const { notifyAbsent, announced } = await announcer(chatNo);
      await strand(chatNo + 1, SENDER, orphans, Date.now() - 2 * HOUR_MS);
      const records = await strand(chatNo, SENDER, 3);
      await notifyAbsent.sweep();
      await notifyAbsent.close();
      expect(announced).to.deep.equal(records.map(({ _id }) => _id));
      expect(await marked(chatNo)).to.equal(0);
      expect(await marked(chatNo + 1), 'their rooms may be restored').to.equal(orphans);
    });

    it('are announced in the order they were sent, even if not all fit into memory', async () => {
      const { open: release, opened: held } = gate();
      const all = messageRecords(chatNo, SENDER, 5_101, (i) => ({
        sentAt: new Date(Date.now() + i),
        unannounced: true,
      }));
      const [records, last] = [all.slice(0, -1), all.at(-1) as MessageRecord];
      const { notifyAbsent, announced } = await announcer(chatNo, {
        async listen(id) {
          await held;
          if (id !== records.at(-1)?._id) return;
          // A message sent during the read is read back after the others.
          await Message.collection.insertOne({ ...last } as never);
          notifyAbsent.enqueue(last);
        },
      });
      await Message.collection.insertMany(records as never[]);
      for (const record of records) notifyAbsent.enqueue(record);
      release();
      await notifyAbsent.sweep();
      await notifyAbsent.close();
      expect(announced).to.deep.equal(all.map(({ _id }) => _id));
      expect(await marked(chatNo)).to.equal(0);
    });

    it('are announced a thousand at a time, up to five thousand from memory', async () => {
      const { open: release, opened: held } = gate();
      const { notifyAbsent, announced } = await announcer(chatNo, { listen: () => held });
      // Not in the database: what is announced was in memory.
      const records = messageRecords(chatNo, SENDER, 5_002);
      const last = records.at(-1) as MessageRecord;
      for (const record of records) notifyAbsent.enqueue(record);
      await eventually(() => expect(announced).to.have.length(1_000));
      release();
      const { find } = Message;
      Message.find = (() => {
        throw new Error('the database is away');
      }) as never;
      try {
        await notifyAbsent.sweep();
        expect(announced).to.have.length(5_000);
        // The read failed and is left to the next sweep; new messages are queued in memory again.
        notifyAbsent.enqueue(last);
        await notifyAbsent.close();
        expect(announced.slice(5_000)).to.deep.equal([last._id]);
      } finally {
        Message.find = find;
      }
    });

    for (const [passed, count] of [
      [2_999, 1_001],
      [3_001, 1_000],
    ] as const) {
      it(`are announced for 3 s by a stop: ${count} of them if a thousand take ${passed} ms`, () =>
        inStoppedTime(async (pass) => {
          const records = messageRecords(chatNo, SENDER, 1_001);
          const { notifyAbsent, announced } = await announcer(chatNo, {
            listen: async (id) => {
              if (id === records[0]?._id) pass(passed);
            },
          });
          for (const record of records) notifyAbsent.enqueue(record);
          await notifyAbsent.close();
          expect(announced).to.have.length(count);
        }));
    }

    it('are not read back any further once a stop has begun', async () => {
      const records = await strand(chatNo, SENDER, 1_001);
      let closed: Promise<void> | undefined;
      const { notifyAbsent, announced } = await announcer(chatNo, {
        listen: async () => {
          closed ??= notifyAbsent.close();
        },
      });
      await notifyAbsent.sweep();
      await closed;
      expect(announced).to.deep.equal(records.slice(0, 1_000).map(({ _id }) => _id));
    });

    it('are announced to the other participant, with what a notification shows', async () => {
      const { notifyAbsent, all } = await announcer(chatNo);
      const [first, second] = messageRecords(chatNo, SENDER, 2);
      const answer: MessageRecord = { ...(second as MessageRecord), senderNo: CREATOR, contentType: 'image' };
      for (const record of [first as MessageRecord, answer]) notifyAbsent.enqueue(record);
      await notifyAbsent.close();
      const common = { chatNo, saleNo: 1 };
      expect(all).to.deep.equal([
        {
          ...common,
          messageId: first?._id,
          senderNo: SENDER,
          recipientNo: CREATOR,
          content: '0',
          contentType: 'text',
        },
        {
          ...common,
          messageId: answer._id,
          senderNo: CREATOR,
          recipientNo: SENDER,
          content: '1',
          contentType: 'image',
        },
      ]);
    });

    it('are not announced to a recipient who has read them or has entered meanwhile', async () => {
      const records = await strand(chatNo, SENDER, 3);
      const read = await announcer(chatNo, { readUpTo: 2 });
      await read.notifyAbsent.sweep();
      expect(read.announced).to.deep.equal([records[2]?._id]);
      expect(await marked(chatNo), 'their marks are removed, too').to.equal(0);
      const open = await announcer(chatNo, { isPresent: true });
      for (const record of records) open.notifyAbsent.enqueue(record);
      await open.notifyAbsent.close();
      expect(open.announced).to.deep.equal([]);
    });

    it('keep their mark if it cannot be removed', async () => {
      const [record] = await strand(chatNo, SENDER, 1);
      const { notifyAbsent, announced } = await announcer(chatNo);
      const { updateMany } = Message;
      Message.updateMany = (() => Promise.reject(new Error('the database is away'))) as never;
      try {
        await notifyAbsent.sweep();
      } finally {
        Message.updateMany = updateMany;
      }
      expect(await marked(chatNo)).to.equal(1);
      await notifyAbsent.sweep();
      await notifyAbsent.close();
      expect(announced, 'listeners are idempotent').to.deep.equal([record?._id, record?._id]);
      expect(await marked(chatNo)).to.equal(0);
    });

    it('are announced before a stop, or keep their mark', async () => {
      const { notifyAbsent, announced } = await announcer(chatNo);
      const [first, second] = await strand(chatNo, SENDER, 2);
      notifyAbsent.enqueue(first as MessageRecord);
      await notifyAbsent.close();
      notifyAbsent.enqueue(second as MessageRecord);
      expect(announced).to.deep.equal([first?._id]);
      expect(await Message.distinct('_id', { chatNo, unannounced: true })).to.deep.equal([second?._id]);
    });

    it('keep their mark if a listener fails, and delay no other', async () => {
      const records = await strand(chatNo, SENDER, 3);
      const { notifyAbsent } = await announcer(chatNo, {
        listen: async (id) => {
          if (id === records[1]?._id) throw new Error('the notification cannot be written');
        },
      });
      await notifyAbsent.sweep();
      await notifyAbsent.close();
      expect(await Message.distinct('_id', { chatNo, unannounced: true })).to.deep.equal([records[1]?._id]);
    });
  });
});
