import { expect } from 'chai';
import { call, member } from '../support/api.js';
import { openRoom, push } from '../support/chat.js';
import { connect } from '../support/sockets.js';
import { itChatsOverSockets } from './chat-behaviour.js';

describe('chat over sockets', () => {
  itChatsOverSockets({ member, openRoom, call, connect: (who) => connect(who) });

  it('calls a sender by the name they have now, not by the one they connected with', async () => {
    const { asker, chatNo } = await openRoom();
    const client = await connect(asker);
    await member({ email: asker.email, nickname: 'renamed' });
    const message = { chatNo, contentType: 'text', content: 'hello' };
    const sent = await client.ask<{ message: { senderName: string } }>('message:send', message);
    expect(sent.message.senderName).to.equal('renamed');
  });

  it('refuses whoever is not in a room, and rooms that are not there, for every event of a room', async () => {
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
    // A join that was refused is no reason not to come in later.
    expect(await mine.join(chatNo)).to.include({ status: 200 });
    await mine.send(chatNo, 'among us');
    await mine.next('message');
    expect(stranger.heard('message')).to.deep.equal([]);
  });

  it('tells a client apart that has connected: its pushes need no token', async () => {
    const { asker, chatNo, saleNo } = await openRoom();
    const agent = { 'User-Agent': `an app of ${asker.no}` };
    const ask = () =>
      call('/chatroom/notification', { method: 'POST', json: push(chatNo, saleNo, 'hello'), headers: agent });
    expect((await ask()).status).to.equal(401);
    await connect(asker, { extraHeaders: agent });
    const { status, body } = await ask();
    expect([status, (body as { senderNo: number }).senderNo]).to.deep.equal([200, asker.no]);
  });

  it('takes its numbers as text of digits, and says what is missing', async () => {
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
