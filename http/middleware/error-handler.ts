import type { Middleware } from 'koa';
import { AppError } from '../../domain/kernel/errors.js';
import { toAppError } from '../../domain/platform/failures.js';
import { metrics } from '../../domain/platform/metrics.js';
import type { AppState } from '../context.js';
import { respondError } from '../respond.js';

/** A path as an answer repeats it: kilobytes of it help nobody. */
const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path);

/** The one place that turns what was thrown, or left unanswered, into the documented error body. */
export const errorHandler: Middleware<AppState> = async (ctx, next) => {
  try {
    await next();
    // What the router leaves: no such path, or (with Allow set) not by this method.
    if (ctx.status === 404) throw new AppError('NOT_FOUND', `no such path: ${shown(ctx.path)}`);
    if (ctx.status === 405 || ctx.status === 501) {
      throw new AppError('METHOD_NOT_ALLOWED', `${shown(ctx.path)} takes ${ctx.response.get('Allow')}`);
    }
  } catch (thrown) {
    const error = toAppError(thrown);
    const { log, requestId } = ctx.state;
    if (error.status === 500) {
      metrics.unexpectedErrors.inc();
      log.error({ requestId, err: error.cause ?? error, method: ctx.method, path: ctx.path }, error.code);
    } else if (error.status === 503) {
      // A backend that is away is no fault of this process, and every probe would say so again.
      log.warn({ requestId, err: error.cause ?? error, method: ctx.method, path: ctx.path }, error.code);
    }
    // Node reads past a body that nobody has begun to read. What a reader has left half-way would stand before
    // the connection's next request, which was never answered.
    if (!ctx.req.complete) ctx.req.unpipe().resume();
    respondError(ctx, error);
  }
};
