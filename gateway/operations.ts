import { AppError } from '../domain/kernel/errors.js';
import type { Config } from '../domain/platform/config.js';
import { toAppError } from '../domain/platform/failures.js';
import { exposeMetrics, mayReadMetrics } from '../domain/platform/metrics.js';
import type { Answer, EngineRequest } from './engine/engine.js';

const JSON_TYPE = 'application/json;charset=UTF-8';

/** The answer to a request that failed or is refused. */
export function errorAnswer(thrown: unknown): Answer {
  const { status, body, retryAfterMs } = toAppError(thrown);
  return { status, type: JSON_TYPE, body: JSON.stringify(body), retryAfterMs };
}

/** The headers of an answer, by name. */
export function headersOf({ type, retryAfterMs }: Answer): Record<string, string> {
  return {
    'Content-Type': type,
    ...(retryAfterMs ? { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } : {}),
  };
}

function json(body: unknown): Answer {
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(body) };
}

/**
 * The operators' calls, the same as on the HTTP port. (contract, section 1)
 * @returns a function that answers requests to other paths than Socket.IO's
 */
export function createOperations(config: Pick<Config, 'METRICS_TOKEN'>, probe: () => Promise<void>) {
  async function metrics({ headers: { authorization } }: EngineRequest): Promise<Answer> {
    if (!mayReadMetrics(authorization, config.METRICS_TOKEN)) {
      throw new AppError('UNAUTHORIZED', '/metrics needs the configured METRICS_TOKEN as a Bearer token');
    }
    const { contentType, text } = await exposeMetrics();
    return { status: 200, type: contentType, body: text };
  }

  return async (request: EngineRequest): Promise<Answer> => {
    switch (`${request.method} ${request.path}`) {
      case 'GET /healthz':
        return json({ up: true });
      case 'GET /readyz':
        await probe();
        return json({ ready: true });
      case 'GET /metrics':
        return metrics(request);
      default: {
        const path = request.path.slice(0, 200);
        throw new AppError('NOT_FOUND', `no such path: ${path}; sockets connect to /socket.io/`);
      }
    }
  };
}
