import Router from '@koa/router';
import { toAppError } from '../domain/platform/process/failures.js';
import { createOperations } from '../domain/platform/process/operations.js';
import type { Config } from '../domain/platform/settings/config.js';
import type { AppState } from './context.js';
import { respondError } from './respond.js';

/** Resolves when the process can serve, rejects with the reason why not. */
export type Probe = () => Promise<void>;

/** Health, readiness and metrics. (contract, section 1) */
export function createOperationsRouter(config: Config, probe: Probe): Router<AppState> {
  const router = new Router<AppState>();
  for (const [path, call] of createOperations(config, probe, 'clients'))
    router.get(path, async (ctx) => {
      try {
        const { type, body } = await call(ctx.get('Authorization'));
        ctx.set('Content-Type', type);
        ctx.body = body;
      } catch (thrown) {
        const error = toAppError(thrown);
        if (error.status !== 503) throw thrown;
        // Without the error handler, which would have each probe logged.
        respondError(ctx, error);
      }
    });
  return router;
}
