import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { Message } from '../../domain/chat/message.model.js';
import { Room } from '../../domain/chat/room.model.js';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart } from '../../domain/community/heart.model.js';
import { Member } from '../../domain/members/member.model.js';
import { Notification } from '../../domain/notifications/notification.model.js';
import type { Author } from './accounts.js';
import type { Community } from './community.js';
import { rest } from './rest.js';

/** Deletes the articles of a run over the public interface. @returns how many are deleted */
export async function deleteArticles(
  base: string,
  { articles }: Pick<Community, 'articles'>,
): Promise<number> {
  let deleted = 0;
  for (const { article, author } of articles) {
    const path = `/community/article/${article}`;
    const outcome = await rest({ base, method: 'DELETE', path, token: author.token, client: 'prove' });
    if ('answer' in outcome) deleted += 1;
  }
  return deleted;
}

/**
 * Removes every record of a run's members from the connected database: nobody else is in their rooms.
 * @param known articles of the run
 */
export async function removeRecords(members: Author[], known: number[]): Promise<void> {
  const numbers = members.map(({ no }) => no);
  const posts = members.flatMap((member) => member.posts);
  const rooms = await Room.find({ creator: { $in: numbers } }, { _id: 1 }).lean();
  const chats = rooms.map(({ _id }) => _id);
  const ofArticles = { articleId: { $in: known } };
  await Message.deleteMany({ chatNo: { $in: chats } });
  await Room.deleteMany({ _id: { $in: chats } });
  await Promise.all([Heart.deleteMany(ofArticles), Bookmark.deleteMany(ofArticles)]);
  await Comment.deleteMany(ofArticles);
  await Article.deleteMany({ _id: { $in: known } });
  await Notification.deleteMany({ memberNo: { $in: numbers } });
  await AdoptionPost.deleteMany({ _id: { $in: posts } });
  await Member.deleteMany({ _id: { $in: numbers } });
}
