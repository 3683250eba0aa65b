import type { Domain } from '../../domain/domain.js';
import { detachFromKoa } from '../node-internals.js';
import { type Route, route } from '../route.js';
import { STREAM_HEADERS } from '../sse/event-format.js';
import type { StreamHub } from '../sse/stream-hub.js';
import {
  deleteBody,
  eventStream,
  notificationList,
  notificationParams,
  streamHeaders,
} from './notifications.schema.js';

const tag = 'Notifications';

/** Interface, "Notifications". */
export function notificationRoutes({ notifications }: Domain, streams: StreamHub): Route[] {
  return [
    route({
      method: 'get',
      path: '/notification/connect',
      tag,
      id: 'openEventStream',
      summary: 'Open event stream',
      description:
        'Opens the stream of the calling member’s notifications. Every event is named `sse`. The first one says `EventStream Created. [userId=N]`; each later one holds a notification record as JSON. Event ids are `{memberNo}_{n}`, n rising: send the last one you have as `Last-Event-ID` and everything missed comes first, in order. A comment line comes every 20 s. The stream ends when its token expires, or when its reader lags more than 1 MiB or takes nothing for 30 s. If the member opens an eleventh one, that holds a `retry` of 60 s alone, and ends.',
      auth: 'required',
      limit: 'read',
      headers: streamHeaders,
      answer: eventStream,
      answerHeaders: STREAM_HEADERS,
      async handle({ actor, peek, ctx }) {
        // The answer to HEAD has no body, so nothing would ever end it.
        if (peek) {
          ctx.set(STREAM_HEADERS);
          ctx.status = 200;
          return undefined;
        }
        // The usual browser polyfill sends the id in the query. Any value opens a stream.
        const sent = [ctx.get('Last-Event-ID'), [ctx.query.lastEventId].flat().at(-1) ?? ''];
        const expiresAt = ctx.state.session?.expiresAt ?? 0;
        const after = await notifications.resumeAfter(actor.no, sent);
        ctx.respond = false;
        detachFromKoa(ctx);
        streams.open(ctx.req, ctx.res, actor.no, expiresAt, after);
        return undefined;
      },
    }),

    route({
      method: 'get',
      path: '/notification/all',
      tag,
      id: 'listNotifications',
      summary: 'List all notifications',
      description:
        'Returns the calling member’s notifications, newest first: those not deleted, and of the chat ones only the latest per room, at most 1,000.',
      auth: 'required',
      limit: 'list',
      answer: notificationList,
      handle: ({ actor }) => notifications.list(actor),
    }),

    route({
      method: 'post',
      path: '/notification',
      tag,
      id: 'deleteNotifications',
      summary: 'Delete notifications',
      description: 'Deletes several notifications, or none where one of them is not the calling member’s.',
      auth: 'required',
      limit: 'write',
      body: deleteBody,
      errors: { NOTIFICATION_NOT_FOUND: 'idList: notification 88 does not exist' },
      handle: ({ actor, body }) => notifications.remove(actor, body.idList),
    }),

    route({
      method: 'patch',
      path: '/notification/checked/:notificationId',
      tag,
      id: 'markNotificationRead',
      summary: 'Mark notification read',
      description: 'Sets `checked`; of a chat, the older ones of its room with it.',
      auth: 'required',
      limit: 'write',
      params: notificationParams,
      errors: { NOTIFICATION_NOT_FOUND: 'notification 88 does not exist' },
      handle: ({ actor, params }) => notifications.check(actor, params.notificationId),
    }),
  ];
}
