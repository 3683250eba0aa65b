import { type Member, member } from '../../support/api.js';
import { adoptionPost, openChat } from '../../support/chat.js';
import { connect } from '../../support/sockets.js';
import { openStream } from '../../support/streams.js';
import { tellStory } from './story.js';

describe('REST, sockets and streams', () => {
  it('show the same state after random actions of three members', async () => {
    await tellStory<Member>({
      member,
      connect,
      openStream,
      async openRoom(author, asker) {
        const saleNo = await adoptionPost(author);
        return { chatNo: await openChat(asker, saleNo, author.no), saleNo };
      },
    });
  });
});
