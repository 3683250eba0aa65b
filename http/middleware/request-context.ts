import type { Middleware } from 'koa';
import { v4, validate } from 'uuid';
import type { Domain } from '../../domain/domain.js';
import type { ClientHeaders } from '../../domain/kernel/client.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { RequestLog } from '../../domain/platform/observe/request-log.js';
import { createClientIdentifier } from '../../domain/platform/rate-limits/identify-client.js';
import type { Config } from '../../domain/platform/settings/config.js';
import type { AppState } from '../context.js';

/** Asked for every few seconds; what makes them fail is logged once, where it begins. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics', '/metrics/cluster']);

/** Whether a URL is one of these. */
export const isProbe = (url: string): boolean => PROBES.has(url.split('?', 1)[0] ?? '');

/** The caller's id of a request, if it is a UUID, or a new one. */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && validate(given) ? given : v4();

/**
 * The path and query of a request's target, which may be a whole address (RFC 9112, 3.2.2). For anything else, a path
 * that does not exist: Koa throws for some, also where nothing answers that.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const { pathname, search } =
    /^https?:/i.test(target) && URL.canParse(target)
      ? new URL(target)
      : { pathname: `/${encodeURIComponent(target)}`, search: '' };
  return pathname + search;
}

/**
 * The first middleware: sets the request's id (the caller's UUID if it sends one, so that a proxy's log and ours
 * share it) and identifies the client; logs and measures the answer.
 */
export function requestContext(domain: Domain, config: Config, logger: Logger): Middleware<AppState> {
  const identifyClient = createClientIdentifier(config, logger);
  const requests = new RequestLog(logger, config.LOG_REQUESTS);
  return async (ctx, next) => {
    const startedAt = process.hrtime.bigint();
    ctx.url = originForm(ctx.url);
    ctx.state.requestId = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state.domain = domain;
    // Node joins these headers if they are repeated.
    const headers = ctx.req.headers as ClientHeaders;
    ctx.state.client = identifyClient(ctx.req.socket.remoteAddress ?? '', headers);
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    await next();

    const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
    const route = ctx.state.route ?? 'none';
    const isProbed = isProbe(ctx.path);
    // No member waits for these, and not ready is no failed request.
    if (!isProbed) metrics.httpRequests.observe({ method: ctx.method, route, status: ctx.status }, seconds);
    if (isProbed && !ctx.state.failure) return;
    requests.answered(
      ctx.status,
      () => ({
        requestId: ctx.state.requestId,
        method: ctx.method,
        path: ctx.path,
        status: ctx.status,
        ms: Math.round(seconds * 1e4) / 10,
        member: ctx.state.session?.actor.no,
      }),
      ctx.state.failure,
    );
  };
}
