import type { AdoptionPostRecord } from '../../domain/adoption/adoption-post.model.js';
import type { MessageRecord } from '../../domain/chat/message.model.js';
import type { RoomRecord } from '../../domain/chat/room.model.js';
import type { ArticleRecord } from '../../domain/community/article.model.js';
import type { CommentRecord } from '../../domain/community/comment.model.js';
import type { MemberRecord } from '../../domain/members/member.model.js';
import type { NotificationRecord } from '../../domain/notifications/notification.model.js';

/** Records of a seeded database; `no` is the number of each. */

const TEXT = 'She likes warm places, is used to children and will not mind another cat in the house. ';

export const emailOf = (no: number) => `load-${no}@load.example.org`;

export const nicknameOf = (no: number) => `member ${no}`;

export const member = (no: number): MemberRecord => ({
  _id: no,
  email: emailOf(no),
  nickname: nicknameOf(no),
  profile: '',
  role: 'USER',
  claimsAt: Math.floor(Date.now() / 1_000),
  createdAt: new Date(),
});

export const room = (no: number, saleNo: number, creator: number, joiner: number): RoomRecord => ({
  ...{ _id: no, saleNo, creator, joiner },
  createdAt: new Date(),
  read: { creator: { seq: 0, others: 0 }, joiner: { seq: 0, others: 0 } },
});

/** Published a minute after the one before. @param count of all articles */
export const article = (no: number, count: number, authorNo: number): ArticleRecord => ({
  _id: no,
  authorNo,
  categoryId: 1 + (no % 5),
  title: `Article ${no} about a cat`,
  context: TEXT.repeat(3),
  images: [],
  thumbnail: '/cat.jpg',
  state: 'live',
  publishedAt: new Date(Date.now() - (count - no) * 60_000),
  views: no % 97,
  hearts: no % 13,
  heartsVersion: 0,
  comments: 0,
  commentsVersion: 0,
});

/** On article 1; every third one is a reply to the one before. */
export const comment = (no: number, authorNo: number): CommentRecord => ({
  _id: no,
  articleId: 1,
  parentId: no % 3 === 2 ? no - 1 : 0,
  authorNo,
  context: TEXT,
  state: 'live',
  publishedAt: new Date(),
  hearts: 0,
  heartsVersion: 0,
  repliesVersion: 0,
});

export const post = (no: number, authorNo: number): AdoptionPostRecord => ({
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

export const notification = (no: number, memberNo: number): NotificationRecord => ({
  _id: no,
  memberNo,
  n: no,
  type: 'comment',
  content: TEXT,
  url: '/board/1',
  originNo: 0,
  publishedAt: new Date(),
  checked: false,
  deleted: false,
  cause: `load:${no}`,
});

/** One of the messages that the two members of a room send in turn. */
export function message(chatNo: number, seq: number, senderNo: number, sentAt: Date): MessageRecord {
  const sent = { creator: Math.ceil(seq / 2), joiner: Math.floor(seq / 2) };
  return {
    _id: `0199${String(chatNo).padStart(8, '0')}${String(seq).padStart(8, '0')}`,
    ...{ chatNo, seq, senderNo, sentAt, sent },
    contentType: 'text',
    content: TEXT,
    read: { creator: { seq, others: sent.joiner }, joiner: { seq, others: sent.creator } },
  };
}
