import type { Domain } from '../../domain/domain.js';
import { DONE } from '../respond.js';
import { type Route, route } from '../route.js';
import { detachFromKoa } from '../sse/detach-from-koa.js';
import { STREAM_HEADERS } from '../sse/event-format.js';
import type { StreamHub } from '../sse/stream-hub.js';
import { deleteBody, notificationParams } from './notifications.schema.js';

/** Interface, "Notifications". */
export function notificationRoutes({ notifications }: Domain, streams: StreamHub): Route[] {
  return [
    route({
      method: 'get',
      path: '/notification/connect',
      auth: 'required',
      limit: 'read',
      async handle({ actor, peek, ctx }) {
        // The answer to HEAD has no body, so nothing would ever end it.
        if (peek) {
          ctx.set(STREAM_HEADERS);
          ctx.status = 200;
          return undefined;
        }
        // The usual browser polyfill sends it in the query. Whatever they hold, there is a stream.
        const sent = [ctx.get('Last-Event-ID'), [ctx.query.lastEventId].flat().at(-1) ?? ''];
        const expiresAt = ctx.state.session?.expiresAt ?? 0;
        const after = await notifications.resumeAfter(actor.no, sent);
        // From here on the response is the hub's: it writes to it until one side ends it.
        ctx.respond = false;
        detachFromKoa(ctx);
        streams.open(ctx.req, ctx.res, actor.no, expiresAt, after);
        return undefined;
      },
    }),

    route({
      method: 'get',
      path: '/notification/all',
      auth: 'required',
      limit: 'read',
      handle: ({ actor }) => notifications.list(actor),
    }),

    route({
      method: 'post',
      path: '/notification',
      auth: 'required',
      limit: 'write',
      body: deleteBody,
      async handle({ actor, body }) {
        await notifications.remove(actor, body.idList);
        return DONE;
      },
    }),

    route({
      method: 'patch',
      path: '/notification/checked/:notificationId',
      auth: 'required',
      limit: 'write',
      params: notificationParams,
      async handle({ actor, params }) {
        await notifications.check(actor, params.notificationId);
        return DONE;
      },
    }),
  ];
}
