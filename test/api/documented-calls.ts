import { push } from '../support/chat.js';
import type { Numbers, Prepared } from './board.js';

/** One call as interface.md documents it. */
export interface DocumentedCall {
  name: string;
  /** With the interface's own placeholders; each is one of the prepared numbers. */
  call: string;
  /** The interface sends no Authorization header. */
  anonymous?: true;
  /** Headers beside Authorization and Content-Type. */
  headers?: Record<string, string>;
  /** The JSON body; none where absent. */
  body?: (numbers: Numbers) => object;
  /** The body as sent, where it is labelled as JSON and is not. */
  text?: (prepared: Prepared) => string;
  /** Succeeds only once on a board. */
  spends?: true;
  /** What the call needs beside what is always prepared. */
  first?: (prepared: Prepared) => Promise<unknown>;
}

const articlePayload = {
  categoryId: 1,
  title: 'Bori has found a home',
  context: 'Thank you all.',
  imageList: [{ id: 1, url: 'https://cdn.example.org/bori.jpg' }],
};

const hearted = ({ article_id }: Numbers) => ({ target: 'article', id: article_id });

/** Every call of interface.md, "Endpoints", in its order. */
export const documentedCalls: DocumentedCall[] = [
  // Community: articles
  { name: 'Read article', call: 'GET /community/article/{article_id}' },
  { name: 'List articles', call: 'GET /community/list/recent' },
  {
    name: 'Create article',
    call: 'POST /community/article',
    body: () => ({ ...articlePayload, thumbnail: 'https://cdn.example.org/bori-small.jpg' }),
  },
  { name: 'Edit article', call: 'PATCH /community/article/{article_id}', body: () => articlePayload },
  { name: 'Delete article', call: 'DELETE /community/article/{article_id}', spends: true },
  // Community: bookmarks
  { name: 'Add bookmark', call: 'POST /community/bookmark/{target_id}', spends: true },
  {
    name: 'Remove bookmark',
    call: 'DELETE /community/bookmark/{target_id}',
    first: ({ caller, numbers }) => caller.post(`/community/bookmark/${numbers.target_id}`),
  },
  // Community: comments
  { name: 'List comments', call: 'GET /community/comment/{article_id}' },
  {
    name: 'Create comment',
    call: 'POST /community/comment',
    body: ({ article_id, comment_id }) => ({ boardId: article_id, parentId: comment_id, context: 'Me too' }),
  },
  {
    name: 'Edit comment',
    call: 'PATCH /community/comment',
    body: ({ comment_id }) => ({ id: comment_id, context: 'Congratulations to both' }),
  },
  { name: 'Delete comment', call: 'DELETE /community/comment/{comment_id}', spends: true },
  // Community: likes
  { name: 'Add like', call: 'POST /community/heart', body: hearted, spends: true },
  {
    name: 'Remove like',
    call: 'DELETE /community/heart/article/{article_id}',
    first: ({ caller, numbers }) => caller.post('/community/heart', hearted(numbers)),
  },
  // Chat
  {
    name: 'Create chat room',
    call: 'POST /chatroom',
    body: ({ otherSaleNo, createMember }) => ({ saleNo: otherSaleNo, createMember }),
    spends: true,
  },
  {
    name: 'Push chat notification',
    call: 'POST /chatroom/notification',
    anonymous: true,
    body: ({ chat_no, saleNo }) => push(chat_no, saleNo, 'Is Bori still looking for a home?'),
  },
  {
    name: 'Disconnect from room',
    call: 'POST /chatroom/{chat_no}',
    anonymous: true,
    text: ({ caller }) => `email=${encodeURIComponent(caller.email)}`,
  },
  { name: 'List chat rooms', call: 'GET /chatroom' },
  { name: 'List messages of a room', call: 'GET /chatroom/{chat_no}' },
  // Adoption listing
  {
    name: 'List render records',
    call: 'GET /adopt/render?_csrf=0b5c2c2e-6a3f-4a5e-9f0d-2f6d1c0e8b11',
    anonymous: true,
  },
  // Notifications
  {
    name: 'Open event stream',
    call: 'GET /notification/connect',
    headers: { 'Last-Event-ID': '', Accept: 'text/event-stream' },
  },
  {
    name: 'List all notifications',
    call: 'GET /notification/all',
    headers: { Accept: 'application/json' },
  },
  {
    name: 'Delete notifications',
    call: 'POST /notification',
    body: ({ notification_id }) => ({ idList: [notification_id] }),
    spends: true,
  },
  { name: 'Mark notification read', call: 'PATCH /notification/checked/{notification_id}' },
];
