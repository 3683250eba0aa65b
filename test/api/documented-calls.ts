import type { Numbers, Prepared } from './board.js';
import {
  articleDetail,
  articleList,
  chatPayload,
  chatRoom,
  comment,
  messageList,
  notification,
  renderRecord,
} from './documented-shapes.js';
import type { Shape } from './shapes.js';

/** One call as interface.md documents it. */
export interface DocumentedCall {
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With the interface's own placeholders; each is one of the prepared numbers. */
  path: string;
  /** False where the interface says that no Authorization header is sent. */
  authorization: boolean;
  /** Headers beside Authorization. */
  headers?: Record<string, string>;
  /** The JSON body; none where absent. */
  body?: (numbers: Numbers) => unknown;
  /** The body as sent, where it is not JSON. */
  text?: (prepared: Prepared) => string;
  /** Whether it succeeds only once on a board. */
  spends?: true;
  /** What has to be there for the call to succeed, and is not among what is always prepared. */
  first?: (prepared: Prepared) => Promise<unknown>;
  answer: 'status body' | 'like-count body' | 'event stream' | Shape;
}

const json = { 'Content-Type': 'application/json;charset=UTF-8' };

const articlePayload = {
  categoryId: 1,
  title: 'Bori has found a home',
  context: 'Thank you all.',
  imageList: [{ id: 1, url: 'https://cdn.example.org/bori.jpg' }],
};

/** Every call of interface.md, "Endpoints", in its order. */
export const documentedCalls: DocumentedCall[] = [
  // Community: articles
  {
    name: 'Read article',
    method: 'GET',
    path: '/community/article/{article_id}',
    authorization: true,
    answer: articleDetail,
  },
  {
    name: 'List articles',
    method: 'GET',
    path: '/community/list/recent',
    authorization: true,
    answer: articleList,
  },
  {
    name: 'Create article',
    method: 'POST',
    path: '/community/article',
    authorization: true,
    headers: json,
    body: () => ({ ...articlePayload, thumbnail: 'https://cdn.example.org/bori-small.jpg' }),
    answer: 'status body',
  },
  {
    name: 'Edit article',
    method: 'PATCH',
    path: '/community/article/{article_id}',
    authorization: true,
    headers: json,
    body: () => articlePayload,
    answer: 'status body',
  },
  {
    name: 'Delete article',
    method: 'DELETE',
    path: '/community/article/{article_id}',
    authorization: true,
    spends: true,
    answer: 'status body',
  },
  // Community: bookmarks
  {
    name: 'Add bookmark',
    method: 'POST',
    path: '/community/bookmark/{target_id}',
    authorization: true,
    spends: true,
    answer: 'status body',
  },
  {
    name: 'Remove bookmark',
    method: 'DELETE',
    path: '/community/bookmark/{target_id}',
    authorization: true,
    first: ({ caller, numbers }) => caller.post(`/community/bookmark/${numbers.target_id}`),
    answer: 'status body',
  },
  // Community: comments
  {
    name: 'List comments',
    method: 'GET',
    path: '/community/comment/{article_id}',
    authorization: true,
    answer: [comment],
  },
  {
    name: 'Create comment',
    method: 'POST',
    path: '/community/comment',
    authorization: true,
    headers: json,
    body: ({ article_id, comment_id }) => ({ boardId: article_id, parentId: comment_id, context: 'Me too' }),
    answer: 'status body',
  },
  {
    name: 'Edit comment',
    method: 'PATCH',
    path: '/community/comment',
    authorization: true,
    headers: json,
    body: ({ comment_id }) => ({ id: comment_id, context: 'Congratulations to both' }),
    answer: 'status body',
  },
  {
    name: 'Delete comment',
    method: 'DELETE',
    path: '/community/comment/{comment_id}',
    authorization: true,
    spends: true,
    answer: 'status body',
  },
  // Community: likes
  {
    name: 'Add like',
    method: 'POST',
    path: '/community/heart',
    authorization: true,
    headers: json,
    body: ({ article_id }) => ({ target: 'article', id: article_id }),
    spends: true,
    answer: 'like-count body',
  },
  {
    name: 'Remove like',
    method: 'DELETE',
    path: '/community/heart/article/{article_id}',
    authorization: true,
    first: ({ caller, numbers }) =>
      caller.post('/community/heart', { target: 'article', id: numbers.article_id }),
    answer: 'like-count body',
  },
  // Chat
  {
    name: 'Create chat room',
    method: 'POST',
    path: '/chatroom',
    authorization: true,
    headers: json,
    body: ({ otherSaleNo, createMember }) => ({ saleNo: otherSaleNo, createMember }),
    spends: true,
    answer: 'status body',
  },
  {
    name: 'Push chat notification',
    method: 'POST',
    path: '/chatroom/notification',
    authorization: false,
    headers: json,
    body: ({ chat_no, saleNo }) => ({
      id: null,
      chatNo: chat_no,
      contentType: 'text',
      content: 'Is Bori still looking for a home?',
      senderName: null,
      senderNo: null,
      saleNo,
      sendTime: Date.now(),
      readCount: null,
      senderEmail: null,
    }),
    answer: chatPayload,
  },
  {
    name: 'Disconnect from room',
    method: 'POST',
    path: '/chatroom/{chat_no}',
    authorization: false,
    headers: json,
    text: ({ caller }) => `email=${encodeURIComponent(caller.email)}`,
    answer: 'status body',
  },
  {
    name: 'List chat rooms',
    method: 'GET',
    path: '/chatroom',
    authorization: true,
    answer: [chatRoom],
  },
  {
    name: 'List messages of a room',
    method: 'GET',
    path: '/chatroom/{chat_no}',
    authorization: true,
    answer: messageList,
  },
  // Adoption listing
  {
    name: 'List render records',
    method: 'GET',
    path: '/adopt/render?_csrf=0b5c2c2e-6a3f-4a5e-9f0d-2f6d1c0e8b11',
    authorization: false,
    answer: [renderRecord],
  },
  // Notifications
  {
    name: 'Open event stream',
    method: 'GET',
    path: '/notification/connect',
    authorization: true,
    headers: { 'Last-Event-ID': '', Accept: 'text/event-stream' },
    answer: 'event stream',
  },
  {
    name: 'List all notifications',
    method: 'GET',
    path: '/notification/all',
    authorization: true,
    headers: { Accept: 'application/json' },
    answer: [notification],
  },
  {
    name: 'Delete notifications',
    method: 'POST',
    path: '/notification',
    authorization: true,
    headers: json,
    body: ({ notification_id }) => ({ idList: [notification_id] }),
    spends: true,
    answer: 'status body',
  },
  {
    name: 'Mark notification read',
    method: 'PATCH',
    path: '/notification/checked/{notification_id}',
    authorization: true,
    answer: 'status body',
  },
];
