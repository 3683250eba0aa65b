import type { Delivery, Door, OperationName } from '../../history.js';
import type { Demand } from './coverage.js';

/** How an operation of the documents shows in a history. */
interface Documented extends Demand {
  /** The lines that count: successes of an operation, and through which door unless any will do; or deliveries. */
  ok?: OperationName;
  door?: Door;
  event?: Delivery['event'];
}

const call = (ok: OperationName, says: string, least = 3, door?: Door): Documented => ({
  ok,
  says,
  least,
  by: 'clients',
  ...(door ? { door } : {}),
});

const event = (name: Delivery['event'], door: Door, least = 3): Documented => ({
  event: name,
  door,
  by: 'clients',
  says: `events \`${name}\` by ${door}`,
  least,
});

/**
 * The operations that the documents name, with the least number that a run needs: those of docs/api/openapi.json by their
 * `operationId`, those of docs/api/asyncapi.json by their key. A test compares them.
 */
export const operations = {
  readArticle: call('article', 'GET /community/article/{article_id}', 5),
  editArticle: call('edit', 'PATCH /community/article/{article_id}'),
  deleteArticle: call('unpublish', 'DELETE /community/article/{article_id}'),
  listArticles: call('articles', 'GET /community/list/{order}', 5),
  createArticle: call('publish', 'POST /community/article'),
  addBookmark: call('bookmark', 'POST /community/bookmark/{target_id}'),
  removeBookmark: call('unbookmark', 'DELETE /community/bookmark/{target_id}', 5),
  listComments: call('comments', 'GET /community/comment/{id}', 5),
  createComment: call('comment', 'POST /community/comment', 5),
  deleteComment: call('uncomment', 'DELETE /community/comment/{id}', 5),
  editComment: call('editComment', 'PATCH /community/comment'),
  addLike: call('heart', 'POST /community/heart', 5),
  removeLike: call('unheart', 'DELETE /community/heart/{target}/{id}', 5),
  createChatRoom: { ...call('openRoom', 'POST /chatroom'), where: 'own' },
  listChatRooms: call('rooms', 'GET /chatroom', 5),
  pushChatNotification: call('send', 'POST /chatroom/notification, new messages', 10, 'push'),
  disconnectFromRoom: call('leave', 'POST /chatroom/{chat_no}', 2, 'rest'),
  listMessages: call('messages', 'GET /chatroom/{chat_no}', 5),
  listRenderRecords: call('render', 'GET /adopt/render'),
  openEventStream: call('stream', 'GET /notification/connect', 5),
  listNotifications: call('notifications', 'GET /notification/all', 5),
  deleteNotifications: call('delete', 'POST /notification', 5),
  markNotificationRead: call('check', 'PATCH /notification/checked/{notification_id}'),
  readCaller: call('me', 'GET /me'),
  'receive.room.join': call('join', 'room:join', 5),
  'receive.room.leave': call('leave', 'room:leave', 3, 'socket'),
  'receive.message.send': call('send', 'message:send', 10, 'socket'),
  'receive.message.read': call('read', 'message:read'),
  'receive.typing': call('typing', 'typing'),
  'receive.auth.refresh': call('refresh', 'auth:refresh'),
  'send.message': event('message', 'socket', 10),
  'send.message.read': event('message:read', 'socket'),
  'send.typing': event('typing', 'socket'),
  'send.presence': event('presence', 'socket'),
  'send.room': event('room', 'socket', 10),
  'send.notification': event('notification', 'socket'),
  'send.drain': { ...event('drain', 'socket', 1), by: 'faults' },
  'send.sse': event('notification', 'stream', 10),
} satisfies Record<string, Documented>;

/** What the documents name, and no run demands, with the reason. */
export const excluded: Record<string, string> = {
  'send.auth.expiring': 'comes a minute before a token expires: the clients of a run have tokens of a day',
  'send.closing': 'follows on what clients must not do, such as too many frames',
  'send.connect_error':
    'counted with the calls on what is not the caller’s: connections without a valid token',
};

export type DocumentedName = keyof typeof operations;

const keyOf = (kind: 'ok' | 'event', name: string, door: Door): string => `${kind} ${name} ${door}`;

const DOORS: readonly Door[] = ['rest', 'push', 'socket', 'stream'];

/** Names by what counts. */
const byKey = new Map<string, DocumentedName[]>();
for (const [name, { ok, event, door }] of Object.entries(operations) as [DocumentedName, Documented][]) {
  for (const one of door ? [door] : DOORS) {
    const key = ok ? keyOf('ok', ok, one) : keyOf('event', event ?? '', one);
    byKey.set(key, [...(byKey.get(key) ?? []), name]);
  }
}

/** The documents' names of a success. */
export const documentedAnswer = (f: OperationName, door: Door): readonly DocumentedName[] =>
  byKey.get(keyOf('ok', f, door)) ?? [];

/** The documents' names of a delivery. */
export const documentedEvent = ({
  event,
  door,
}: Pick<Delivery, 'event' | 'door'>): readonly DocumentedName[] =>
  byKey.get(keyOf('event', event, door)) ?? [];
