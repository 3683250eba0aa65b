import type { RequestListener } from 'node:http';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import type { Overload } from '../domain/platform/process/overload.js';
import type { Config } from '../domain/platform/settings/config.js';
import { isProbe, requestIdOf } from './middleware/request-context.js';
import { JSON_TYPE, retryAfter, toJson } from './respond.js';

/** Headers that a page of another origin may read. */
export const EXPOSED_HEADERS = 'X-Request-Id,Retry-After,WWW-Authenticate';

/**
 * Refuses requests of an overloaded process before Koa, logs and metrics by route: a refusal costs a third less so, and the
 * greater the overload, the more of them there are. Probes pass: what watches the process has to learn that it is overloaded. So do
 * preflights, whose refusal no page could read; both are charged to their address.
 *
 * @param handle gets all others
 */
export function shedLoad(overload: Overload, config: Config, handle: RequestListener): RequestListener {
  const originAllowed = createOriginPolicy(config.CORS_ORIGINS);
  const credentials = !config.CORS_ORIGINS?.includes('*');
  return (req, res) => {
    const passes = req.method === 'OPTIONS' || isProbe(req.url ?? '');
    const refused = passes ? undefined : overload.refuse('request');
    if (!refused) return handle(req, res);
    const { origin, 'x-request-id': requestId } = req.headers;
    const body = toJson(refused.body);
    res.writeHead(refused.status, {
      'Content-Type': JSON_TYPE,
      'Content-Length': Buffer.byteLength(body),
      'Retry-After': retryAfter(refused.retryAfterMs ?? 0),
      'X-Request-Id': requestIdOf(requestId),
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Origin',
      // As @koa/cors sets them.
      ...(origin !== undefined &&
        originAllowed(origin) && {
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Expose-Headers': EXPOSED_HEADERS,
          ...(credentials && { 'Access-Control-Allow-Credentials': 'true' }),
        }),
    });
    res.end(body);
  };
}
