import { member } from '../support/api.js';
import { adoptionPost } from '../support/chat.js';
import { service } from '../support/service.js';

export type Prepared = Awaited<ReturnType<typeof prepare>>;

export type Numbers = Prepared['numbers'];

/** Creates everything that a call may need. The other member comments on, chats with and notifies the caller. */
export async function prepare() {
  const { domain } = await service();
  const [caller, other] = [await member(), await member()];
  const article_id = await domain.community.createArticle(caller.actor, {
    categoryId: 1,
    title: 'Bori has found a home',
    context: 'Thank you all.',
    imageList: [{ id: 7, url: 'https://cdn.example.org/bori.jpg' }],
    thumbnail: 'https://cdn.example.org/bori-small.jpg',
  });
  const context = 'Congratulations!';
  const comment_id = await domain.community.createComment(caller.actor, {
    articleId: article_id,
    parentId: 0,
    context,
  });
  await domain.community.createComment(other.actor, { articleId: article_id, parentId: comment_id, context });
  const [saleNo, otherSaleNo] = [await adoptionPost(other), await adoptionPost(other)];
  const chat_no = await domain.chat.createRoom(caller.actor, { saleNo, createMember: other.no });
  await domain.chat.sendMessage(other.actor, { chatNo: chat_no, contentType: 'text', content: 'Hello' });
  const [first] = await domain.notifications.list(caller.actor);
  if (!first) throw new Error('nobody was notified');
  return {
    caller,
    /**
     * The records that the documented calls are made upon, by the names that interface.md uses in paths and bodies.
     * The caller may read, change and delete all of them.
     */
    numbers: {
      article_id,
      comment_id,
      target_id: article_id,
      chat_no,
      saleNo,
      /** An adoption post about which the caller has no room yet. */
      otherSaleNo,
      createMember: other.no,
      notification_id: first.id,
    },
  };
}
