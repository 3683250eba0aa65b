import { expect } from 'chai';
import { Message } from '../../../domain/chat/message.model.js';
import { Room } from '../../../domain/chat/room.model.js';
import type { RoomView } from '../../../domain/kernel/live.js';
import { call, expectError, member } from '../../support/api.js';
import { adoptionPost, contentsOf, openRoom, pushTo, unreadOf } from '../../support/chat.js';
import { meanwhile } from '../../support/database-calls.js';
import { service } from '../../support/service.js';
import { connect } from '../../support/sockets.js';

describe('POST /chatroom', () => {
  it('22: creates one room for a pair and a sale, even if both call at once', async () => {
    const [author, asker] = [await member(), await member()];
    const saleNo = await adoptionPost(author);
    const asks = [author.no, asker.no, author.no, asker.no].map((createMember) =>
      asker.post('/chatroom', { saleNo, createMember }),
    );
    for (const { status, body } of await Promise.all(asks)) {
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ status: 200 });
    }
    const rooms = await author.get<RoomView[]>('/chatroom');
    expect(rooms.body).to.have.length(1);
    const { domain } = await service();
    const other = { saleNo: await adoptionPost(author), createMember: author.no };
    const [chatNo, ...more] = await Promise.all(
      Array.from({ length: 4 }, () => domain.chat.createRoom(asker.actor, other)),
    );
    expect(more, 'the number of the one room').to.deep.equal(more.map(() => chatNo));
    expect((await Room.find({ saleNo: other.saleNo })).map(({ _id }) => _id)).to.deep.equal([chatNo]);
    expect(rooms.body[0]).to.include({
      createMember: author.no,
      joinMember: asker.no,
      saleNo,
      unReadCount: 0,
    });
    expect(rooms.body[0]).to.not.have.property('latestMessage');
  });

  it('accepts numbers as text of digits, as the app sends them', async () => {
    const [author, asker] = [await member(), await member()];
    const saleNo = await adoptionPost(author);
    const asked = { saleNo: `${saleNo}`, createMember: `${author.no}` };
    expect((await asker.post('/chatroom', asked)).body).to.deep.equal({ status: 200 });
    expect((await author.get<RoomView[]>('/chatroom')).body[0]).to.include({ saleNo });
  });

  it('sends a `room` event for a new room to both members, and none for an existing one', async () => {
    const [author, asker] = [await member(), await member()];
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    const saleNo = await adoptionPost(author);
    await asker.post('/chatroom', { saleNo, createMember: author.no });
    for (const [who, client] of [
      [asker, mine],
      [author, theirs],
    ] as const) {
      const told = await client.next<RoomView>('room');
      expect([told]).to.deep.equal((await who.get<RoomView[]>('/chatroom')).body);
    }
    await asker.post('/chatroom', { saleNo, createMember: author.no });
    // A member's events arrive in order: one of the second call would precede this.
    const other = await adoptionPost(author);
    await asker.post('/chatroom', { saleNo: other, createMember: author.no });
    for (const client of [mine, theirs]) {
      await client.next<RoomView>('room', (room) => room.saleNo === other);
      expect(client.heard('room')).to.have.length(2);
    }
  });

  it('23: refuses the author alone, a third member as creator, and an unknown sale', async () => {
    const [author, asker, third] = [await member(), await member(), await member()];
    const saleNo = await adoptionPost(author);
    expect((await author.post('/chatroom', { saleNo, createMember: author.no })).status).to.equal(400);
    const foreign = asker.post('/chatroom', { saleNo, createMember: third.no });
    await expectError(foreign, 400, 'INVALID_INPUT', /createMember/);
    const missing = asker.post('/chatroom', { saleNo: 987_654_321, createMember: asker.no });
    await expectError(missing, 404, 'SALE_NOT_FOUND', 'saleNo: adoption post 987654321 does not exist');
    expect((await asker.get<unknown[]>('/chatroom')).body).to.deep.equal([]);
  });
});

describe('GET /chatroom', () => {
  it('lists exactly the documented fields, newest activity first, and filters by sale', async () => {
    const { author, asker, saleNo, chatNo } = await openRoom();
    const otherSale = await adoptionPost(author, 'Nabi, a calm cat');
    await asker.post('/chatroom', { saleNo: otherSale, createMember: author.no });
    const sent = await pushTo<{ sendTime: number }>({ chatNo, saleNo }, asker, 'hello');
    const { body } = await author.get<RoomView[]>('/chatroom');
    expect(body.map((room) => room.saleNo)).to.deep.equal([saleNo, otherSale]);
    expect(body[0]).to.deep.equal({
      chatNo,
      createMember: author.no,
      joinMember: asker.no,
      saleNo,
      saleTitle: 'Bori, a gentle Jindo mix',
      regDate: body[0]?.regDate,
      participant: { username: asker.nickname, profile: '' },
      latestMessage: { context: 'hello', sendAt: sent.body.sendTime },
      unReadCount: 1,
    });
    expect(body[0]?.regDate).to.be.closeTo(Date.now(), 60_000);
    const one = await author.get<RoomView[]>(`/chatroom?saleNo=${otherSale}`);
    expect(one.body.map((room) => room.chatNo)).to.not.include(chatNo);
    expect(one.body).to.have.length(1);
  });
});

describe('GET /chatroom of rooms with activity at the same moment', () => {
  it('lists the later room first, whichever side the member is on', async () => {
    const [first, second] = [await member(), await member()];
    const opened = [
      [first, second],
      [second, first],
      [first, second],
      [second, first],
    ] as const;
    for (const [author, asker] of opened) {
      await asker.post('/chatroom', { saleNo: await adoptionPost(author), createMember: author.no });
    }
    await Room.updateMany({ creator: { $in: [first.no, second.no] } }, { createdAt: new Date() });
    for (const who of [first, second]) {
      const numbers = (await who.get<RoomView[]>('/chatroom')).body.map(({ chatNo }) => chatNo);
      expect(numbers).to.have.length(4);
      expect(numbers).to.deep.equal([...numbers].sort((a, b) => b - a));
    }
  });
});

describe('GET /chatroom/{chat_no}', () => {
  it('shows what it marks read: what is stored meanwhile stays unread for the next list', async () => {
    const room = await openRoom();
    const { asker, author, chatNo } = room;
    await pushTo(room, asker, 'before');
    const read = () => contentsOf(author, chatNo);
    const sends = () => pushTo(room, asker, 'meanwhile');
    expect(await meanwhile('before', [Room, 'updateOne'], sends, read)).to.deep.equal(['before']);
    expect(await unreadOf(author)).to.equal(1);
    expect(await read()).to.deep.equal(['before', 'meanwhile']);
    expect(await unreadOf(author)).to.equal(0);
  });

  it('marks nothing read that comes while it looks for the message to page back from', async () => {
    const room = await openRoom();
    const { asker, author, chatNo } = room;
    const { body } = await pushTo(room, asker, 'before');
    const sends = () => pushTo(room, asker, 'meanwhile');
    const read = () => author.get(`/chatroom/${chatNo}?before=${body.id}`);
    expect((await meanwhile('before', [Message, 'findOne'], sends, read)).status).to.equal(200);
    expect(await unreadOf(author)).to.equal(1);
  });

  it('pages back from a message id, up to the limit asked for', async () => {
    const room = await openRoom();
    const { asker, author, chatNo } = room;
    for (let i = 1; i <= 5; i += 1) await pushTo(room, asker, `m${i}`, { sendTime: i });
    const read = (query: string) =>
      author.get<{ chatList: { id: string; content: string }[] }>(`/chatroom/${chatNo}${query}`);
    const last = await read('?limit=2');
    expect(last.body.chatList.map(({ content }) => content)).to.deep.equal(['m4', 'm5']);
    const before = await read(`?limit=2&before=${last.body.chatList[0]?.id}`);
    expect(before.body.chatList.map(({ content }) => content)).to.deep.equal(['m2', 'm3']);
    expect((await read('?before=unknown')).status).to.equal(404);
    const elsewhere = await openRoom();
    const foreign = await pushTo(elsewhere, elsewhere.asker, 'of another room');
    expect((await read(`?before=${foreign.body.id}`)).status).to.equal(404);
    expect((await read('?limit=1001')).status).to.equal(400);
    expect((await (await member()).get(`/chatroom/${chatNo}`)).status).to.equal(403);
  });

  it('marks nothing read for a HEAD request', async () => {
    const room = await openRoom();
    const { asker, author, chatNo } = room;
    await pushTo(room, asker, 'unread');
    const head = (headers: Record<string, string>) =>
      call(`/chatroom/${chatNo}?limit=1`, { method: 'HEAD', headers });
    expect((await head({ Authorization: author.token })).status).to.equal(200);
    expect((await head({ Authorization: (await member()).token })).status).to.equal(403);
    expect(await unreadOf(author)).to.equal(1);
    expect(await contentsOf(author, chatNo)).to.deep.equal(['unread']);
    expect(await unreadOf(author)).to.equal(0);
  });
});
