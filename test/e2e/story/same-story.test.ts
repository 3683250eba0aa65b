import { type Member, member } from '../../support/api.js';
import { adoptionPost } from '../../support/chat.js';
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
        await asker.post('/chatroom', { saleNo, createMember: author.no });
        const { body } = await asker.get<{ chatNo: number }[]>(`/chatroom?saleNo=${saleNo}`);
        return { chatNo: body[0]?.chatNo as number, saleNo };
      },
    });
  });
});
