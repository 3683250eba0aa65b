import { AdoptionPost, type AdoptionPostRecord } from '../../domain/adoption/adoption-post.model.js';
import { Message, type MessageRecord } from '../../domain/chat/message.model.js';
import { Article, type ArticleRecord } from '../../domain/community/articles/article.model.js';
import { Comment, type CommentRecord } from '../../domain/community/comments/comment.model.js';
import { Notification, type NotificationRecord } from '../../domain/notifications/notification.model.js';
import { connected, insertAll, insertNumbered, insertRooms } from './seed-chat.js';

const TEXT = 'She likes warm places, is used to children and will not mind another cat in the house. ';

/** How many records of each kind. */
export interface ContentCounts {
  articles: number;
  /** All on article 1; every third one is a reply to the one before. */
  comments: number;
  posts: number;
  /** All created by the first member, numbered from 2. */
  rooms: number;
  messagesPerRoom: number;
  /** All for the first member. */
  notifications: number;
}

const article = (i: number, count: number, authorNo: number): ArticleRecord => ({
  _id: i + 1,
  authorNo,
  categoryId: 1 + (i % 5),
  title: `Article ${i + 1} about a cat`,
  context: TEXT.repeat(3),
  images: [],
  thumbnail: '/cat.jpg',
  state: 'live',
  publishedAt: new Date(Date.now() - (count - i) * 60_000),
  views: i % 97,
  hearts: i % 13,
  heartsVersion: 0,
  comments: 0,
  commentsVersion: 0,
});

const comment = (i: number, authorNo: number): CommentRecord => ({
  _id: i + 1,
  articleId: 1,
  parentId: i % 3 === 1 ? i : 0,
  authorNo,
  context: TEXT,
  state: 'live',
  publishedAt: new Date(),
  hearts: 0,
  heartsVersion: 0,
  repliesVersion: 0,
});

const post = (no: number, authorNo: number): AdoptionPostRecord => ({
  _id: no,
  authorNo,
  title: `Post ${no}`,
  name: 'Mimi',
  age: '2',
  kind: 'cat',
  latitude: 37 + no / 10_000,
  longitude: 127,
  thumbnail: '/mimi.jpg',
  modal: false,
  createdAt: new Date(),
});

const notification = (i: number, memberNo: number): NotificationRecord => ({
  _id: i + 1,
  memberNo,
  n: i + 1,
  type: 'comment',
  content: TEXT,
  url: '/board/1',
  originNo: 0,
  publishedAt: new Date(),
  checked: false,
  deleted: false,
  cause: `load:${i + 1}`,
});

/** One of the messages that the two members of a room send in turn. */
function message(chatNo: number, seq: number, senderNo: number, sentAt: Date): MessageRecord {
  const sent = { creator: Math.ceil(seq / 2), joiner: Math.floor(seq / 2) };
  return {
    _id: `0199${String(chatNo).padStart(8, '0')}${String(seq).padStart(8, '0')}`,
    ...{ chatNo, seq, senderNo, sentAt, sent },
    contentType: 'text',
    content: TEXT,
    read: { creator: { seq, others: sent.joiner }, joiner: { seq, others: sent.creator } },
  };
}

/** Adds to a database of `seedChat` what is read over HTTP. @param members numbers of its members */
export function seedContent(uri: string, members: number[], counts: ContentCounts): Promise<void> {
  const [memberNo = 1, ...others] = members;
  const author = (i: number) => members[i % members.length] as number;
  const other = (i: number) => others[i % others.length] as number;
  const { articles, comments, posts, rooms, messagesPerRoom, notifications } = counts;
  return connected(uri, async () => {
    await insertNumbered('article', Article, articles, (i) => article(i, articles, author(i)));
    await insertNumbered('comment', Comment, comments, (i) => comment(i, author(i)));
    // Post 1 and room 1 are those of seedChat.
    await insertNumbered('adoption', AdoptionPost, posts, (i) => post(i + 2, author(i)), 2);
    await insertRooms(
      Array.from({ length: rooms }, (_, i) => ({ saleNo: 2 + i, creator: memberNo, joiner: other(i) })),
      2,
    );
    const now = Date.now();
    await insertAll(Message, rooms * messagesPerRoom, (i) => {
      const [room, seq] = [Math.floor(i / messagesPerRoom), (i % messagesPerRoom) + 1];
      const sentAt = new Date(now - (messagesPerRoom - seq) * 1_000 - room);
      return message(room + 2, seq, seq % 2 === 1 ? memberNo : other(room), sentAt);
    });
    await insertNumbered('notification', Notification, notifications, (i) => notification(i, memberNo));
  });
}
