import cors from '@koa/cors';
import Koa from 'koa';
import type { Domain } from '../domain/domain.js';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import type { Logger } from '../domain/platform/observe/logger.js';
import type { Config } from '../domain/platform/settings/config.js';
import type { AppState } from './context.js';
import { createDemoRouter } from './demo/demo.routes.js';
import type { SocketDescription } from './docs/asyncapi.js';
import { createDocsRouter } from './docs/docs.routes.js';
import { createErrorHandler } from './middleware/error-handler.js';
import { limitAddress, limitPreflights } from './middleware/limit.js';
import { requestContext } from './middleware/request-context.js';
import { createOperationsRouter, type Probe } from './operations.routes.js';
import { createRouter, documentedRoutes } from './router.js';
import { EXPOSED_HEADERS } from './shed-load.js';
import type { StreamHub } from './sse/stream-hub.js';

/** The REST application: all middleware in order, then every router. Nothing is registered elsewhere. */
export function createApp(
  domain: Domain,
  streams: StreamHub,
  config: Config,
  logger: Logger,
  probe: Probe,
  sockets: SocketDescription,
): Koa<AppState> {
  const app = new Koa<AppState>({ proxy: config.TRUST_PROXY > 0, maxIpsCount: config.TRUST_PROXY });
  const originAllowed = createOriginPolicy(config.CORS_ORIGINS);
  const operations = createOperationsRouter(config, probe);
  const routes = documentedRoutes(domain, streams);
  const router = createRouter(routes);
  const docs = createDocsRouter(routes, sockets);
  const demo = createDemoRouter(domain, config, sockets.port);

  app.use(requestContext(domain, config, logger));
  app.use(createErrorHandler(sockets.port));
  app.use(limitPreflights);
  app.use(
    cors({
      origin: (ctx) => (originAllowed(ctx.get('Origin')) ? ctx.get('Origin') : ''),
      // The session cookie is for origins listed by name, never for `*`.
      credentials: () => !config.CORS_ORIGINS?.includes('*'),
      exposeHeaders: EXPOSED_HEADERS,
      maxAge: 600,
    }),
  );
  app.use(limitAddress);
  app.use(operations.routes());
  app.use(router.routes());
  // The demo before the documents: both take /.
  app.use(demo.routes());
  app.use(docs.routes());
  app.use(operations.allowedMethods());
  app.use(router.allowedMethods());

  // Failures after the response was started. A client that disconnects, or whose body stops being HTTP, is not an
  // error of the service.
  app.on('error', (error: NodeJS.ErrnoException, ctx?: { state: Partial<AppState> }) => {
    const { code = '' } = error;
    if (['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(code) || code.startsWith('HPE_'))
      return;
    logger.error({ requestId: ctx?.state.requestId, err: error }, 'response failed');
  });
  return app;
}
