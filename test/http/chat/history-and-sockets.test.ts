import { expect } from 'chai';
import { openRoom } from '../../support/chat.js';
import { connect } from '../../support/sockets.js';

interface Listed {
  id: string;
}

describe('history over REST, and what comes by socket', () => {
  it('are joined by the id of a message: both list the same, oldest first, and the answer to a join has the cursor', async () => {
    const { author, asker, chatNo } = await openRoom();
    const writer = await connect(asker);
    for (const content of ['1', '2', '3']) await writer.send(chatNo, content);
    const { body } = await author.get<{ chatList: Listed[] }>(`/chatroom/${chatNo}`);
    const shown = body.chatList.map(({ id }) => id);
    await writer.send(chatNo, '4');
    const reader = await connect(author);
    const { messages, seq } = await reader.join<{ messages: Listed[]; seq: number }>(chatNo);
    const joined = messages.map(({ id }) => id);
    expect(joined.slice(0, 3)).to.deep.equal(shown);
    expect(seq).to.equal(4);
    const between = await author.get<{ chatList: Listed[] }>(`/chatroom/${chatNo}?before=${joined[3]}`);
    expect(between.body.chatList.map(({ id }) => id)).to.deep.equal(shown);
  });
});
