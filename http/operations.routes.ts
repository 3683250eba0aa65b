import Router from '@koa/router';
import { AppError } from '../domain/kernel/errors.js';
import type { Config } from '../domain/platform/config.js';
import { toAppError } from '../domain/platform/failures.js';
import { exposeMetrics, mayReadMetrics } from '../domain/platform/metrics.js';
import type { AppState } from './context.js';
import { respond, respondError } from './respond.js';

/** Resolves when the process can serve, rejects with the reason why not. */
export type Probe = () => Promise<void>;

/** Health, readiness and metrics; the gateway serves the same three. (contract, section 1) */
export function createOperationsRouter(config: Config, probe: Probe): Router<AppState> {
  const router = new Router<AppState>();

  router.get('/healthz', (ctx) => respond(ctx, { up: true }));

  router.get('/readyz', async (ctx) => {
    try {
      await probe();
      respond(ctx, { ready: true });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.status !== 503) throw thrown;
      // Without the error handler, which would have each probe logged.
      respondError(ctx, error);
    }
  });

  router.get('/metrics', async (ctx) => {
    if (!mayReadMetrics(ctx.get('Authorization'), config.METRICS_TOKEN)) {
      throw new AppError('UNAUTHORIZED', '/metrics needs the configured METRICS_TOKEN as a Bearer token');
    }
    const { contentType, text } = await exposeMetrics();
    ctx.set('Content-Type', contentType);
    ctx.body = text;
  });

  return router;
}
