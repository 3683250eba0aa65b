import { expect } from 'chai';
import { anyone, call, member } from '../support/api.js';
import { openRoom, push } from '../support/chat.js';
import { connect } from '../support/sockets.js';
import { itChatsOverSockets } from './chat-behaviour.js';

describe('chat over sockets', () => {
  itChatsOverSockets({ member, openRoom, call, connect: (who) => connect(who) });

  it('shows the sender’s current name, not the one at the time of connecting', async () => {
    const { asker, chatNo } = await openRoom();
    const client = await connect(asker);
    await member({ email: asker.email, nickname: 'renamed' });
    const message = { chatNo, contentType: 'text', content: 'hello' };
    const sent = await client.ask<{ message: { senderName: string } }>('message:send', message);
    expect(sent.message.senderName).to.equal('renamed');
  });

  it('refuses non-participants and unknown rooms for every event of a room', async () => {
    const { asker, chatNo } = await openRoom();
    const [stranger, mine] = [await connect(await member()), await connect(asker)];
    const requests: [event: string, request: object][] = [
      ['room:join', {}],
      ['room:leave', {}],
      ['message:send', { contentType: 'text', content: 'hello' }],
      ['message:read', { seq: 0 }],
    ];
    for (const [event, request] of requests) {
      const to = (room: number) => ({ ...request, chatNo: room });
      expect(await stranger.ask(event, to(chatNo)), event).to.include({ status: 403, message: 'FORBIDDEN' });
      const missing = await mine.ask(event, to(999_999));
      expect(missing, event).to.include({ status: 404, message: 'CHAT_ROOM_NOT_FOUND' });
    }
    // A refused join does not prevent a later one.
    expect(await mine.join(chatNo)).to.include({ status: 200 });
    await mine.send(chatNo, 'among us');
    await mine.next('message');
    expect(stranger.heard('message')).to.deep.equal([]);
  });

  it('accepts pushes without a token from a client that has joined the room', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const agent = { 'User-Agent': `an app of ${asker.no}` };
    const send = () =>
      anyone.post<{ senderNo: number }>('/chatroom/notification', push(chatNo, saleNo, 'hello'), agent);
    expect((await send()).status).to.equal(401);
    const client = await connect(asker, { extraHeaders: agent });
    expect((await send()).status, 'connected').to.equal(401);
    await client.join(chatNo);
    const { status, body } = await send();
    expect([status, body.senderNo]).to.deep.equal([200, asker.no]);
  });

  it('accepts numbers as text of digits, and names missing fields', async () => {
    const { author, asker, chatNo } = await openRoom();
    const [mine, theirs] = [await connect(asker), await connect(author)];
    const room = { chatNo: `${chatNo}` };
    expect(await theirs.ask('room:join', room)).to.include({ status: 200, seq: 0 });
    const message = { ...room, contentType: 'text', content: 'hello' };
    expect(await mine.ask('message:send', message)).to.include({ status: 200 });
    expect(await theirs.next('message')).to.include({ chatNo, seq: 1 });
    expect(await mine.ask('room:join', { ...room, after: '0' })).to.include({ status: 200, seq: 1 });
    expect(await mine.ask('message:read', { ...room, seq: '1' })).to.include({ status: 200 });
    mine.socket.emit('typing', { ...room, typing: true });
    expect(await theirs.next('typing')).to.deep.equal({ chatNo, memberNo: asker.no, typing: true });
    expect(await mine.ask('room:leave', room)).to.include({ status: 200 });

    const missing: [event: string, fields: string[]][] = [
      ['room:join', ['chatNo']],
      ['room:leave', ['chatNo']],
      ['message:send', ['chatNo', 'contentType', 'content']],
      ['message:read', ['chatNo', 'seq']],
      ['typing', ['chatNo', 'typing']],
      ['auth:refresh', ['token']],
    ];
    for (const [event, fields] of missing) {
      const { errors } = await mine.ask<{ errors: string[] }>(event, {});
      expect(errors, event).to.deep.equal(fields.map((field) => `${field}: is missing`));
    }
    const nothing = await mine.ask<{ errors: string[] }>('room:join');
    expect(nothing.errors).to.deep.equal(['room:join: is missing']);
    const wrong = await mine.ask<{ errors: string[] }>('message:read', { ...room, seq: '-1' });
    expect(wrong.errors).to.deep.equal(['seq: must be a whole number']);
  });
});
