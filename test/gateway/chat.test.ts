import { expect } from 'chai';
import { call, member } from '../support/api.js';
import { openRoom } from '../support/chat.js';
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
});
