import Router from '@koa/router';
import type { Domain } from '../domain/domain.js';
import { traced } from '../domain/platform/observe/tracing.js';
import { adoptionRoutes } from './adoption/adoption.routes.js';
import { chatRoutes } from './chat/chat.routes.js';
import { articleRoutes } from './community/articles.routes.js';
import { bookmarkRoutes } from './community/bookmarks.routes.js';
import { commentRoutes } from './community/comments.routes.js';
import { heartRoutes } from './community/hearts.routes.js';
import type { AppContext, AppState } from './context.js';
import { memberRoutes } from './members/members.routes.js';
import { notificationRoutes } from './notifications/notifications.routes.js';
import type { Route } from './route.js';
import type { StreamHub } from './sse/stream-hub.js';

/** Every documented call, in the order of interface.md, then those that it lacks. */
export function documentedRoutes(domain: Domain, streams: StreamHub): Route[] {
  return [
    ...articleRoutes(domain),
    ...bookmarkRoutes(domain),
    ...commentRoutes(domain),
    ...heartRoutes(domain),
    ...chatRoutes(domain),
    ...adoptionRoutes(domain),
    ...notificationRoutes(domain, streams),
    ...memberRoutes(),
  ];
}

/** The router of these routes; it sets `ctx.state.route`. */
export function createRouter(routes: Route[]): Router<AppState> {
  const router = new Router<AppState>();
  for (const { definition, run } of routes) {
    router[definition.method](definition.path, (ctx) => {
      ctx.state.route = definition.path;
      const name = `${ctx.method} ${definition.path}`;
      return traced(name, {}, () => run(ctx as unknown as AppContext));
    });
  }
  return router;
}
