import type { Shape } from './shapes.js';

/** Interface, "Resources and their fields", table by table and in its order. */

export const articleDetail: Shape = {
  id: 'integer',
  mine: 'boolean',
  header: {
    title: 'string',
    authorId: 'integer',
    username: 'string',
    profile: 'string',
    view: 'integer',
    like: 'integer',
    comment: 'integer',
    publishedAt: 'local date-time',
  },
  context: {
    context: 'string',
    imageList: [{ imageNo: 'integer', imageUrl: 'string' }],
  },
};

const articleSummary: Shape = {
  id: 'integer',
  title: 'string',
  context: 'string',
  author: 'string',
  view: 'integer',
  comment: 'integer',
  like: 'integer',
  publishedAt: 'local date-time',
  thumbnail: 'string',
};

/** The article list. */
export const articleList: Shape = { hot: articleSummary, weekly: articleSummary, list: [articleSummary] };

const reply = {
  type: 'integer',
  mine: 'boolean',
  id: 'integer',
  author: 'string',
  authorId: 'integer',
  context: 'string',
  profile: 'string',
  publishedAt: 'local date-time',
  like: 'integer',
  deleteStatus: 'integer',
  blindStatus: 'integer',
} as const;

/** A reply has exactly the same fields as a comment except that it has no `comments` field. */
export const comment: Shape = { ...reply, comments: [reply] };

export const chatRoom: Shape = {
  chatNo: 'integer',
  createMember: 'integer',
  joinMember: 'integer',
  saleNo: 'integer',
  saleTitle: 'string',
  regDate: 'epoch milliseconds',
  participant: { username: 'string', profile: 'string' },
  latestMessage: { context: 'string', sendAt: 'epoch milliseconds' },
  unReadCount: 'integer',
};

const chatMessage: Shape = {
  id: 'string',
  chatRoomNo: 'integer',
  senderNo: 'integer',
  senderName: 'string',
  contentType: 'string',
  content: 'string',
  sendDate: 'epoch milliseconds',
  readCount: 'integer',
  mine: 'boolean',
};

/** What wraps the messages of a room. */
export const messageList: Shape = { email: 'string', chatList: [chatMessage] };

/** The answer of the notification push: the payload with every field filled. */
export const chatPayload: Shape = {
  id: 'string',
  chatNo: 'integer',
  contentType: 'string',
  content: 'string',
  senderName: 'string',
  senderNo: 'integer',
  saleNo: 'integer',
  sendTime: 'epoch milliseconds',
  readCount: 'integer',
  senderEmail: 'string',
};

export const renderRecord: Shape = {
  id: 'integer',
  name: 'string',
  age: 'string',
  kind: 'string',
  latitude: 'number',
  longitude: 'number',
  thumbnail: 'string',
  modal: 'boolean',
};

export const notification: Shape = {
  id: 'integer',
  type: 'string',
  content: 'string',
  url: 'string',
  publishedAt: 'six numbers',
  name: 'string',
  checked: 'boolean',
  del: 'boolean',
};
