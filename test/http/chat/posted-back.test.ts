import { expect } from 'chai';
import { Message } from '../../../domain/chat/message.model.js';
import { anyone, expectError, type Member, member } from '../../support/api.js';
import { contentsOf, type OpenedRoom, openRoom, push, pushTo, timesNotified } from '../../support/chat.js';

describe('a broadcast posted back without its id', () => {
  let room: OpenedRoom;
  let author: Member;
  let asker: Member;
  let chatNo: number;
  let saleNo: number;

  beforeEach(async () => {
    room = await openRoom();
    ({ author, asker, chatNo, saleNo } = room);
  });

  const contents = () => contentsOf(asker, chatNo);

  /** Legacy receivers overwrite the sender's address of the broadcast with their own. */
  const postBack = (
    broadcast: object,
    more: Record<string, unknown>,
    headers: Record<string, string> = { Authorization: author.token },
  ) =>
    anyone.post<Record<string, unknown>>(
      '/chatroom/notification',
      { ...broadcast, id: null, ...more },
      headers,
    );

  it('18: is answered with the stored message, whichever of the two it names as sender', async () => {
    const sent = push(chatNo, saleNo, 'hello');
    const first = await asker.post<{ sendTime: number }>('/chatroom/notification', sent);
    // A client without a token, of which nothing but the author's rooms were ever listed.
    const client = { 'User-Agent': `receiver of ${chatNo}` };
    await author.get('/chatroom', client);
    const own = { senderEmail: author.email };
    const copies: [string, object, Record<string, unknown>][] = [
      ['its own address', first.body, own],
      ['its own address in capitals', first.body, { senderEmail: author.email.toUpperCase() }],
      ['its own address and number', first.body, { ...own, senderNo: author.no }],
      ['its own address and no number', first.body, { ...own, senderNo: null }],
      ['another sendTime, the sender’s number', first.body, { ...own, sendTime: 1 }],
      ['sendTime in text', first.body, { ...own, sendTime: new Date(first.body.sendTime).toISOString() }],
      ['the sender’s number and address', first.body, {}],
      ['the sender’s number alone', first.body, { senderEmail: '' }],
      ['the body of the push', sent, own],
    ];
    for (const [name, copy, more] of copies) {
      for (const headers of [{ Authorization: author.token }, client]) {
        const answer = await postBack(copy, more, headers);
        // Without a token, the sender's address is only shown to those who sent it.
        const sentEmail = { ...copy, ...more }.senderEmail === asker.email;
        const senderEmail = headers === client && !sentEmail ? '' : asker.email;
        expect(answer.body, name).to.deep.equal({ ...first.body, senderEmail });
      }
    }
    // The sender receives its own broadcast, too.
    const bySender = await postBack(first.body, {}, { Authorization: asker.token });
    expect(bySender.body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal(['hello']);
    expect(await timesNotified(author, asker, room)).to.equal(1);
    expect((await asker.get<unknown[]>('/notification/all')).body).to.deep.equal([]);
  });

  it('is recognised by a sendTime in text without a zone, which is UTC wherever the process runs', async () => {
    const { TZ } = process.env;
    process.env.TZ = 'Asia/Seoul';
    try {
      const first = await pushTo<{ sendTime: number }>(room, asker, 'hello');
      const copy = await postBack(first.body, {
        senderEmail: author.email,
        senderNo: null,
        sendTime: new Date(first.body.sendTime).toISOString().slice(0, -1),
      });
      expect(copy.body).to.deep.equal(first.body);
      expect(await contents()).to.deep.equal(['hello']);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });

  it('is told apart from the receiver’s own message with the same text', async () => {
    const first = await pushTo<object>(room, asker, 'ok');
    const { email: senderEmail, no: senderNo } = author;
    for (const more of [
      { sendTime: Date.now() + 1_000, senderEmail },
      {},
      { sendTime: 1, senderEmail, senderNo },
    ]) {
      const { body } = await pushTo<{ senderNo: number }>(room, author, 'ok', more);
      expect(body.senderNo).to.equal(senderNo);
    }
    const other = await postBack(first.body, {
      content: 'not ok',
      senderEmail: author.email,
      senderNo: null,
    });
    expect(other.body).to.include({ senderNo: author.no, content: 'not ok' });
    expect(await contents()).to.deep.equal(['ok', 'ok', 'ok', 'ok', 'not ok']);
  });

  it('matches the newest message with its text if its sendTime matches none', async () => {
    const sendTime = Date.now();
    for (const i of [1, 2]) {
      await pushTo(room, asker, 'ok', { sendTime: sendTime - i });
    }
    const { body } = await author.get<{ chatList: { id: string }[] }>(`/chatroom/${chatNo}`);
    const copy = push(chatNo, saleNo, 'ok', { senderNo: asker.no });
    const found = async (at: number) => (await postBack(copy, { sendTime: at })).body.id;
    expect(await found(1), 'no time of sending').to.equal(body.chatList[1]?.id);
    expect(await found(sendTime + 60_000), 'nothing was sent then').to.equal(body.chatList[1]?.id);
    expect(await found(sendTime - 1), 'the one that was sent then').to.equal(body.chatList[0]?.id);
  });

  it('is searched among the last thousand messages of its room', async () => {
    const { body: first } = await pushTo<object>(room, asker, 'hello');
    const record = await Message.findOne({ chatNo }).lean();
    const copy = push(chatNo, saleNo, 'hello', { senderNo: asker.no });
    for (const [newest, status] of [
      [1_000, 200],
      [1_001, 404],
    ] as const) {
      // The newest message decides the room's `seq`, whatever is missing before it.
      const later = { _id: `${chatNo} ${newest}`, seq: newest, content: 'later', clientKey: `${newest}` };
      await Message.collection.insertOne({ ...record, ...later } as never);
      const answer = await postBack(copy, { sendTime: 1 });
      expect(answer.status, `behind ${newest}`).to.equal(status);
      if (status === 200) expect(answer.body).to.deep.equal(first);
    }
    await Message.deleteMany({ chatNo, content: 'later' });
  });

  it('18: is 404 if it names the other participant, who has sent no such message', async () => {
    const first = await pushTo<object>(room, asker, 'hello');
    const altered = { content: 'altered', senderEmail: author.email };
    const fault = `content: the sender named has sent no such message to chat room ${chatNo}`;
    await expectError(postBack(first.body, altered), 404, 'MESSAGE_NOT_FOUND', fault);
    expect(await contents()).to.deep.equal(['hello']);
  });

  it('is 401 from an unknown caller, whatever address it gives', async () => {
    const first = await pushTo<object>(room, asker, 'hello');
    const stranger = { 'User-Agent': 'nobody was ever seen here' };
    expect((await postBack(first.body, { senderEmail: author.email }, stranger)).status).to.equal(401);
    const member3 = await member();
    const third = { Authorization: member3.token };
    expect((await postBack(first.body, { senderEmail: member3.email }, third)).status).to.equal(403);
  });
});
