import { type Member, member } from '../support/api.js';
import { adoptionPost } from '../support/chat.js';
import { service } from '../support/service.js';

/**
 * The records that the documented calls are made upon, by the names that interface.md uses in paths and bodies.
 * The caller may read, change and delete all of them.
 */
export interface Numbers {
  article_id: number;
  comment_id: number;
  target_id: number;
  chat_no: number;
  saleNo: number;
  createMember: number;
  /** An adoption post about which the caller has no room yet. */
  otherSaleNo: number;
  notification_id: number;
}

export interface Prepared {
  caller: Member;
  /** The other party of everything: comments on, chats with and notifies the caller. */
  other: Member;
  numbers: Numbers;
}

/** Creates everything that a call may need. */
export async function prepare(): Promise<Prepared> {
  const { domain } = await service();
  const [caller, other] = [await member(), await member()];
  const [callerActor, otherActor] = await Promise.all(
    [caller, other].map(async ({ token }) => (await domain.members.authenticate(token)).actor),
  );
  if (!callerActor || !otherActor) throw new Error('no members');
  const article_id = await domain.community.createArticle(callerActor, {
    categoryId: 1,
    title: 'Bori has found a home',
    context: 'Thank you all.',
    imageList: [{ id: 7, url: 'https://cdn.example.org/bori.jpg' }],
    thumbnail: 'https://cdn.example.org/bori-small.jpg',
  });
  const context = 'Congratulations!';
  const comment_id = await domain.community.createComment(callerActor, {
    articleId: article_id,
    parentId: 0,
    context,
  });
  await domain.community.createComment(otherActor, { articleId: article_id, parentId: comment_id, context });
  const [saleNo, otherSaleNo] = [await adoptionPost(other), await adoptionPost(other)];
  const chat_no = await domain.chat.createRoom(callerActor, { saleNo, createMember: other.no });
  await domain.chat.sendMessage(otherActor, { chatNo: chat_no, contentType: 'text', content: 'Hello' });
  const [first] = await domain.notifications.list(callerActor);
  if (!first) throw new Error('nobody was notified');
  return {
    caller,
    other,
    numbers: {
      article_id,
      comment_id,
      target_id: article_id,
      chat_no,
      saleNo,
      otherSaleNo,
      createMember: other.no,
      notification_id: first.id,
    },
  };
}
