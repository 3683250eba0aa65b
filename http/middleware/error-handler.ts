import type { Middleware } from 'koa';
import { AppError } from '../../domain/kernel/errors.js';
import { toAppError } from '../../domain/platform/process/failures.js';
import type { AppState } from '../context.js';
import { respondError } from '../respond.js';

/** A path, shortened for an error text. */
const shortened = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);

/**
 * The only place that turns exceptions and unanswered requests into the documented error body.
 * @param socketPort at which the gateway serves Socket.IO
 */
export function createErrorHandler(socketPort: number): Middleware<AppState> {
  const hint = (path: string): string =>
    /^\/socket\.io(\/|$)/.test(path) ? `; sockets connect to the gateway, on port ${socketPort}` : '';
  return async (ctx, next) => {
    try {
      await next();
      // Set by the router. For a method that it does not know, the status is 501 at every path, and Allow may be empty.
      if (![404, 405, 501].includes(ctx.status)) return;
      const allowed = ctx.response.get('Allow');
      if (allowed) throw new AppError('METHOD_NOT_ALLOWED', `${shortened(ctx.path)} takes ${allowed}`);
      ctx.remove('Allow');
      throw new AppError('NOT_FOUND', `no such path: ${shortened(ctx.path)}${hint(ctx.path)}`);
    } catch (thrown) {
      const error = toAppError(thrown);
      ctx.state.failure = error;
      // Node discards a body that was not read at all. The rest of one read in part would block the
      // connection's next request.
      if (!ctx.req.complete) ctx.req.unpipe().resume();
      respondError(ctx, error);
    }
  };
}
