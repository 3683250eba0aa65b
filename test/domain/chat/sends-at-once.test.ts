import { expect } from 'chai';
import { RoomAudit } from '../../../domain/chat/audit-room.js';
import { Message, type MessageRecord } from '../../../domain/chat/message.model.js';
import { Room, type RoomRecord } from '../../../domain/chat/room.model.js';
import { openRoom } from '../../support/chat.js';
import { beforeInserts, insertSizes } from '../../support/database-calls.js';
import { service } from '../../support/service.js';

const SENDS = 50;

/** The room's records in their order, once the audit has found nothing wrong with them. */
async function ledgerOf(chatNo: number): Promise<MessageRecord[]> {
  const records = await Message.find({ chatNo }).sort({ seq: 1 }).lean();
  const audit = new RoomAudit((await Room.findById(chatNo).lean()) as RoomRecord);
  for (const record of records) audit.add(record);
  expect(audit.finish()).to.deep.equal([]);
  return records;
}

describe('sends to one room at the same moment', () => {
  it('are stored in their order, together, whoever of the two they are from', async () => {
    const { asker, author, chatNo } = await openRoom();
    const { domain } = await service();
    const inserts = await insertSizes(Message, async () => {
      const payloads = await Promise.all(
        Array.from({ length: SENDS }, (_, i) =>
          domain.chat.sendMessage((i % 3 === 0 ? author : asker).actor, {
            chatNo,
            contentType: 'text',
            content: `${i}`,
          }),
        ),
      );
      expect(payloads.map(({ content }) => content)).to.deep.equal(payloads.map((_, i) => `${i}`));
      expect(payloads.map(({ seq }) => seq)).to.deep.equal(payloads.map((_, i) => i + 1));
    });
    expect(inserts).to.deep.equal([SENDS]);
    expect(await ledgerOf(chatNo)).to.have.length(SENDS);
  });

  it('give one message where they carry the same key, and go on behind it', async () => {
    const { asker, chatNo } = await openRoom();
    const { domain } = await service();
    const payloads = await Promise.all(
      Array.from({ length: SENDS }, (_, i) =>
        domain.chat.sendMessage(asker.actor, {
          chatNo,
          contentType: 'text',
          content: `${i}`,
          clientKey: `key ${i % 20}`,
        }),
      ),
    );
    expect(payloads.map(({ content }) => content)).to.deep.equal(payloads.map((_, i) => `${i % 20}`));
    const records = await ledgerOf(chatNo);
    expect(records.map(({ content }) => content)).to.deep.equal(payloads.slice(0, 20).map((_, i) => `${i}`));
  });

  it('give way to a message of another process in their middle, and lose nothing', async () => {
    const { asker, author, chatNo } = await openRoom();
    const { domain } = await service();
    let taken: MessageRecord | undefined;
    await beforeInserts<MessageRecord>(
      Message,
      async (records) => {
        const [, , before, behind] = records;
        if (taken || !before || !behind) return;
        taken = {
          ...behind,
          _id: 'of another process',
          senderNo: author.no,
          content: 'first!',
          sent: { ...before.sent, creator: before.sent.creator + 1 },
        };
        await Message.collection.insertOne({ ...taken } as never);
      },
      async () => {
        await Promise.all(
          Array.from({ length: SENDS }, (_, i) =>
            domain.chat.sendMessage(asker.actor, { chatNo, contentType: 'text', content: `${i}` }),
          ),
        );
      },
    );
    const contents = (await ledgerOf(chatNo)).map(({ content }) => content);
    const mine = Array.from({ length: SENDS }, (_, i) => `${i}`);
    expect(contents).to.deep.equal([...mine.slice(0, 3), 'first!', ...mine.slice(3)]);
  });
});
