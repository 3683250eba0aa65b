import { AdoptionPost } from '../../domain/adoption/adoption-post.model.js';
import { Message } from '../../domain/chat/message.model.js';
import { Room } from '../../domain/chat/room.model.js';
import { Article } from '../../domain/community/article.model.js';
import { Bookmark } from '../../domain/community/bookmark.model.js';
import { Comment } from '../../domain/community/comment.model.js';
import { Heart } from '../../domain/community/heart.model.js';
import { Member } from '../../domain/members/member.model.js';
import { Notification } from '../../domain/notifications/notification.model.js';

/** Rooms whose messages are deleted by one command: a running service waits for it. */
const ROOMS_AT_ONCE = 100;

/** How many records of a run there were. */
export type Removed = Record<'members' | 'adoption posts' | 'rooms' | 'messages' | 'articles', number>;

/**
 * Removes every record of a run's members from the connected database, and what others have written to them.
 * @param run addresses of its members, and numbers of its posts and articles
 */
export async function removeRecords(run: {
  emails: string[];
  posts: number[];
  articles: number[];
}): Promise<Removed> {
  const members = await Member.find({ email: { $in: run.emails } }, { _id: 1 }).lean();
  const numbers = members.map(({ _id }) => _id);
  // A room belongs to the author of its post, who is of the run.
  const rooms = await Room.find({ creator: { $in: numbers } }, { _id: 1 }).lean();
  const chats = rooms.map(({ _id }) => _id);
  let messages = 0;
  for (let i = 0; i < chats.length; i += ROOMS_AT_ONCE) {
    const some = { chatNo: { $in: chats.slice(i, i + ROOMS_AT_ONCE) } };
    messages += (await Message.deleteMany(some)).deletedCount;
  }
  await Room.deleteMany({ _id: { $in: chats } });
  const ofArticles = { articleId: { $in: run.articles } };
  await Promise.all([Heart.deleteMany(ofArticles), Bookmark.deleteMany(ofArticles)]);
  await Comment.deleteMany(ofArticles);
  const { deletedCount: articles } = await Article.deleteMany({ _id: { $in: run.articles } });
  await Notification.deleteMany({ memberNo: { $in: numbers } });
  const { deletedCount: posts } = await AdoptionPost.deleteMany({ _id: { $in: run.posts } });
  await Member.deleteMany({ _id: { $in: numbers } });
  return { members: numbers.length, 'adoption posts': posts, rooms: chats.length, messages, articles };
}
