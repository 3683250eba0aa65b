import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { AppError } from '../domain/kernel/errors.js';
import type { Config } from '../domain/platform/config.js';
import { toAppError } from '../domain/platform/failures.js';
import { exposeMetrics, mayReadMetrics } from '../domain/platform/metrics.js';

const JSON_TYPE = 'application/json;charset=UTF-8';

interface Answer {
  status: number;
  type: string;
  body: string;
  retryAfterMs?: number | undefined;
}

/**
 * Sends an answer when it is ready, unless the client has gone: uWebSockets.js forbids touching an aborted
 * response, and the request once its handler has returned.
 * @param headers besides those that every answer has
 */
export function answer(
  res: HttpResponse,
  ready: Promise<Answer>,
  headers: Record<string, string> = {},
): void {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  ready
    .catch((thrown) => {
      const error = toAppError(thrown);
      const { status, body, retryAfterMs } = error;
      return { status, type: JSON_TYPE, body: `${JSON.stringify(body)}\n`, retryAfterMs };
    })
    .then(({ status, type, body, retryAfterMs }) => {
      if (aborted) return;
      res.cork(() => {
        res.writeStatus(`${status} ${STATUS_CODES[status]}`);
        res.writeHeader('Content-Type', type);
        for (const [name, value] of Object.entries(headers)) res.writeHeader(name, value);
        if (retryAfterMs) res.writeHeader('Retry-After', String(Math.ceil(retryAfterMs / 1_000)));
        res.end(body);
      });
    });
}

function json(body: unknown): Answer {
  return { status: 200, type: JSON_TYPE, body: `${JSON.stringify(body)}\n` };
}

/** The operators' calls, the same as on the HTTP port. (contract, section 1) */
export function serveOperations(app: TemplatedApp, config: Config, probe: () => Promise<void>): void {
  app.get('/healthz', (res) => answer(res, Promise.resolve(json({ up: true }))));

  app.get('/readyz', (res) =>
    answer(
      res,
      probe().then(() => json({ ready: true })),
    ),
  );

  app.get('/metrics', (res: HttpResponse, req: HttpRequest) => {
    const authorization = req.getHeader('authorization');
    answer(
      res,
      (async () => {
        if (!mayReadMetrics(authorization, config.METRICS_TOKEN)) {
          throw new AppError('UNAUTHORIZED', '/metrics needs the configured METRICS_TOKEN as a Bearer token');
        }
        const { contentType, text } = await exposeMetrics();
        return { status: 200, type: contentType, body: text };
      })(),
    );
  });

  app.any('/*', (res, req) => {
    const path = req.getUrl().slice(0, 200);
    answer(
      res,
      Promise.reject(new AppError('NOT_FOUND', `no such path: ${path}; sockets connect to /socket.io/`)),
    );
  });
}
