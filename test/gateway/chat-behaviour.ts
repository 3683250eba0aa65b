import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { Member } from '../support/api.js';
import { contentsOf, type OpenedRoom, unreadOf } from '../support/chat.js';
import { eventually, sleep } from '../support/eventually.js';
import { type Client, nextPresence } from '../support/sockets.js';

/** What the tests need of a member. */
export type ChatMember = Pick<Member, 'no' | 'email' | 'nickname' | 'token' | 'get' | 'post'>;

/** The service whose chat is tested: one process, or several behind either adapter. */
export interface ChatWorld<M extends ChatMember> {
  member(): Promise<M>;
  openRoom(): Promise<OpenedRoom<M>>;
  /** With several gateways, each time to another one. */
  connect(who: M): Promise<Client>;
  call(path: string): Promise<{ status: number }>;
}

/** The chat over sockets, in one process or several. */
export function itChatsOverSockets<M extends ChatMember>(world: ChatWorld<M>): void {
  const { member, openRoom, connect, call } = world;
  let author: M;
  let asker: M;
  let chatNo: number;
  let saleNo: number;

  beforeEach(async () => {
    ({ author, asker, chatNo, saleNo } = await openRoom());
  });

  it('answers a send with the stored message and delivers it to the room with every field', async () => {
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.join(chatNo);
    const joined = await theirs.join(chatNo);
    expect(joined).to.deep.equal({
      status: 200,
      messages: [],
      from: 'newest',
      more: false,
      seq: 0,
      present: [author.no, asker.no].sort((a, b) => a - b),
    });

    const before = Date.now();
    const sent = await mine.send<{ message: { id: string; sendTime: number } }>(
      chatNo,
      'Is Bori still looking for a home?',
      'c-1',
    );
    expect(sent.status).to.equal(200);
    expect(sent.message.sendTime).to.be.within(before, Date.now());
    const expected = {
      id: sent.message.id,
      chatNo,
      contentType: 'text',
      content: 'Is Bori still looking for a home?',
      senderName: asker.nickname,
      senderNo: asker.no,
      saleNo,
      sendTime: sent.message.sendTime,
      readCount: 0,
      senderEmail: asker.email,
      seq: 1,
    };
    expect(sent).to.deep.equal({ status: 200, message: expected });
    expect(await theirs.next('message')).to.deep.equal(expected);
    expect(await mine.next('message')).to.deep.equal(expected);

    const list = await author.get(`/chatroom/${chatNo}`);
    expect(list.body).to.deep.equal({
      email: author.email,
      chatList: [
        {
          id: expected.id,
          chatRoomNo: chatNo,
          senderNo: asker.no,
          senderName: asker.nickname,
          contentType: 'text',
          content: expected.content,
          sendDate: expected.sendTime,
          readCount: 0,
          mine: false,
        },
      ],
    });
  });

  it('compares clientIds in any form of Unicode', async () => {
    const client = await connect(asker);
    const send = (form: 'NFC' | 'NFD') =>
      client.send<{ message: { id: string } }>(chatNo, 'hello', '나비'.normalize(form));
    expect((await send('NFD')).message.id).to.equal((await send('NFC')).message.id);
    expect(await contentsOf(asker, chatNo)).to.deep.equal(['hello']);
  });

  it('answers a repeated clientId with the first message, also while the first send is under way', async () => {
    const client = await connect(asker);
    const send = () => client.send<{ message: { id: string } }>(chatNo, 'hello', 'same');
    const [first, second] = await Promise.all([send(), send()]);
    const third = await send();
    expect(second.message.id).to.equal(first.message.id);
    expect(third.message.id).to.equal(first.message.id);
    expect(await contentsOf(asker, chatNo)).to.deep.equal(['hello']);
  });

  it('numbers the messages of two members who send at once without gaps, and delivers them in one order', async () => {
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await Promise.all([mine.join(chatNo), theirs.join(chatNo)]);
    const each = 50;
    await Promise.all(
      [mine, theirs].flatMap((client) => Array.from({ length: each }, (_, i) => client.send(chatNo, `${i}`))),
    );
    await Promise.all(
      [mine, theirs].map((c) => c.next<{ seq: number }>('message', (m) => m.seq === 2 * each)),
    );
    const orders = [mine, theirs].map((c) => c.heard<{ seq: number; id: string }>('message'));
    expect(orders[0]?.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 2 * each }, (_, i) => i + 1));
    expect(orders[1]).to.deep.equal(orders[0]);
  });

  it('sends the reader’s position to the room, and sets readCount to 0', async () => {
    const mine = await connect(asker);
    await mine.join(chatNo);
    await mine.send(chatNo, 'one');
    await mine.send(chatNo, 'two');
    expect(await unreadOf(author)).to.equal(2);

    const theirs = await connect(author);
    expect(await theirs.ask('message:read', { chatNo, seq: 1 })).to.deep.equal({ status: 200 });
    expect(await mine.next('message:read')).to.deep.equal({ chatNo, memberNo: author.no, seq: 1 });
    // A position never moves back, nor past the newest message.
    expect(await theirs.ask('message:read', { chatNo, seq: 0 })).to.deep.equal({ status: 200 });
    expect(await unreadOf(author)).to.equal(1);
    expect(await theirs.ask('message:read', { chatNo, seq: 99 })).to.deep.equal({ status: 200 });
    expect(await mine.next('message:read', (e: { seq: number }) => e.seq === 2)).to.deep.equal({
      chatNo,
      memberNo: author.no,
      seq: 2,
    });
    const list = await asker.get<{ chatList: { readCount: number }[] }>(`/chatroom/${chatNo}`);
    expect(list.body.chatList.map(({ readCount }) => readCount)).to.deep.equal([0, 0]);
  });

  it('returns to a joining client the messages after the number it has, and marks them read', async () => {
    const mine = await connect(asker);
    for (const content of ['1', '2', '3', '4']) {
      await mine.send(chatNo, content);
    }
    const theirs = await connect(author);
    const joined = await theirs.join<{ messages: { content: string; seq: number }[]; seq: number }>(
      chatNo,
      2,
    );
    expect(joined.messages.map(({ seq, content }) => [seq, content])).to.deep.equal([
      [3, '3'],
      [4, '4'],
    ]);
    expect(joined.seq).to.equal(4);
    expect(await unreadOf(author)).to.equal(0);
  });

  it('sends a member who rejoins the other member’s new read position, after the answer', async () => {
    const mine = await connect(asker);
    await mine.send(chatNo, '1');
    await author.get(`/chatroom/${chatNo}`);
    await mine.send(chatNo, '2');
    const back = await connect(asker);
    const told: unknown[] = [];
    back.socket.onAny((event) => told.push(event));
    await new Promise<void>((resolve) => {
      back.socket.emit('room:join', { chatNo, after: 2 }, () => {
        told.push('answer');
        resolve();
      });
    });
    expect(await back.next('message:read')).to.deep.equal({ chatNo, memberNo: author.no, seq: 1 });
    // `presence`, and `room` of the last send, may come at any time.
    expect(told.filter((event) => event !== 'presence' && event !== 'room')).to.deep.equal([
      'answer',
      'message:read',
    ]);
    // A client that knows the position does not get it again.
    await back.join(chatNo, 2);
    await back.ask('room:leave', { chatNo });
    expect(back.heard('message:read')).to.have.length(1);
  });

  it('ends a member’s presence when their last device leaves', async () => {
    const mine = await connect(asker);
    await mine.join(chatNo);
    const [phone, laptop] = await Promise.all([connect(author), connect(author)]);
    await phone.join(chatNo);
    await laptop.join(chatNo);
    await nextPresence(mine, true);
    phone.socket.disconnect();
    await laptop.ask('room:leave', { chatNo });
    expect(await nextPresence(mine, false)).to.deep.equal({
      chatNo,
      memberNo: author.no,
      present: false,
    });
    // Its own it may hear before it has joined: the answer to the join holds that.
    const ofAuthor = mine
      .heard<{ memberNo: number }>('presence')
      .filter(({ memberNo }) => memberNo === author.no);
    expect(ofAuthor).to.have.length(2);
  });

  it('sends `typing` of a member in the room to the room, and refuses it from outside', async () => {
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await mine.join(chatNo);
    const refused = await theirs.ask('typing', { chatNo, typing: true });
    expect(refused).to.include({ status: 403, message: 'FORBIDDEN' });
    await theirs.join(chatNo);
    theirs.socket.emit('typing', { chatNo, typing: false });
    expect(await mine.next('typing')).to.deep.equal({ chatNo, memberNo: author.no, typing: false });
    expect(await theirs.ask('typing', { chatNo, typing: true })).to.deep.equal({ status: 200 });
  });

  it('sends both members the element of the room list, fewer times than it changes, the latest last', async () => {
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => mine.send(chatNo, `m${i}`)));
    const last = await theirs.next<{ unReadCount: number }>('room', (view) => view.unReadCount === 20);
    const list = await author.get<unknown[]>('/chatroom');
    expect(last).to.deep.equal(list.body[0]);
    expect(theirs.heard('room').length).to.be.lessThan(20);
    const own = await mine.next<{ latestMessage?: { context: string } }>(
      'room',
      (view) => view.latestMessage?.context === (last as never as typeof view).latestMessage?.context,
    );
    expect(own).to.have.property('unReadCount', 0);
  });

  it('sends a member at most one event of a room in 250 ms, although both write, over another gateway each', async () => {
    const [mine, theirs] = await Promise.all([connect(asker), connect(author)]);
    const startedAt = performance.now();
    for (let i = 0; i < 30; i += 1) {
      await Promise.all([mine.send(chatNo, `m${i}`), theirs.send(chatNo, `t${i}`)]);
      await sleep(40);
    }
    const last = (await author.get<{ latestMessage: object }[]>('/chatroom')).body[0];
    for (const { next, heard } of [mine, theirs]) {
      await next<{ latestMessage: object }>('room', ({ latestMessage }) =>
        isDeepStrictEqual(latestMessage, last?.latestMessage),
      );
      const intervals = (performance.now() - startedAt) / 250;
      // The first, and one for each interval, which may be a little shorter (gateway/order/room-views.ts).
      expect(heard('room').length).to.be.at.most(2 + intervals * 1.05);
    }
  });

  it('refuses strangers and invalid input, names the field, and stores nothing', async () => {
    const stranger = await connect(await member());
    expect(await stranger.join(chatNo)).to.include({ status: 403, message: 'FORBIDDEN' });
    expect(await stranger.send(chatNo, 'x')).to.include({ status: 403 });
    const mine = await connect(asker);
    const bad: [unknown, number, RegExp][] = [
      [{ chatNo, contentType: 'text', content: '' }, 400, /content/],
      [{ chatNo, contentType: 'video', content: 'x' }, 400, /contentType/],
      [{ chatNo, contentType: 'coords', content: '91 0' }, 400, /content/],
      [{ chatNo: `room ${chatNo}`, contentType: 'text', content: 'x' }, 400, /chatNo/],
      [{ chatNo, contentType: 'text', content: { $ne: null } }, 400, /content/],
      [{ chatNo, contentType: 'text', content: 'x'.repeat(5_001) }, 400, /content/],
      [{ chatNo: 999_999_999, contentType: 'text', content: 'x' }, 404, /999999999/],
      ['nonsense', 400, /message:send/],
    ];
    for (const [request, status, text] of bad) {
      const answer = await mine.ask<{ errors: string[] }>('message:send', request);
      expect(answer.status, JSON.stringify(request)).to.equal(status);
      expect(answer.errors[0]).to.match(text);
    }
    expect(await mine.ask('message:sned', {})).to.deep.include({ status: 404, message: 'UNKNOWN_EVENT' });
    expect(await contentsOf(asker, chatNo)).to.deep.equal([]);
  });

  it('survives events whose acknowledgement is missing or is no function', async () => {
    const mine = await connect(asker);
    mine.socket.emit('message:send', { chatNo, contentType: 'text', content: 'no ack' });
    mine.socket.emit('message:send');
    mine.socket.emit('room:join', { chatNo }, 'not a function');
    mine.socket.emit('message:send', Buffer.from('binary'));
    mine.socket.emit('__proto__', { polluted: true });
    await new Promise((resolve) => mine.socket.once('disconnect', resolve));
    expect((await call('/healthz')).status).to.equal(200);
    const again = await connect(asker);
    // Without an acknowledgement, nothing tells when the message is stored.
    await eventually(async () => {
      const joined = await again.join<{ messages: unknown[] }>(chatNo);
      expect(joined.messages).to.have.length(1);
    });
  });
}
