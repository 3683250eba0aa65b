import { challengeOf } from '../domain/kernel/challenge.js';
import { AppError } from '../domain/kernel/errors.js';
import { toAppError } from '../domain/platform/failures.js';
import { createOperations, JSON_TYPE, type OperationsConfig } from '../domain/platform/operations.js';
import { type Answer, type EngineRequest, SOCKET_PATH } from './engine/engine.js';
import type { ConnectionGuard } from './engineio-internals.js';

/**
 * The answer to a request that failed or is refused.
 * @param authorization that header of the request, where a token may be asked for
 */
export function errorAnswer(thrown: unknown, authorization?: string): Answer {
  const error = toAppError(thrown);
  const { status, body, retryAfterMs } = error;
  return {
    status,
    type: JSON_TYPE,
    body: `${JSON.stringify(body)}\n`,
    retryAfterMs,
    ...(status === 401 && { headers: { 'WWW-Authenticate': challengeOf(error, authorization) } }),
  };
}

/** The answer to a request whose head can be read in two ways. */
export function framingAnswer({ framingFault }: EngineRequest): Answer | undefined {
  if (framingFault === undefined) return undefined;
  return { ...errorAnswer(new AppError('INVALID_INPUT', framingFault)), closes: true };
}

/** The headers of an answer, by name. */
export function headersOf({ type, retryAfterMs, headers }: Answer): Record<string, string> {
  return {
    'Content-Type': type,
    ...headers,
    ...(retryAfterMs ? { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)) } : {}),
  };
}

/**
 * The operators' calls, the same as on the HTTP port. (contract, section 1)
 * @param guard limits what an address may ask; absent with RATE_LIMIT=off
 * @returns a function that answers requests to other paths than Socket.IO's
 */
export function serveOperations(
  config: OperationsConfig,
  probe: () => Promise<void>,
  guard: ConnectionGuard | undefined,
) {
  const operations = createOperations(config, probe, 'clients');
  // On the HTTP port and METRICS_PORT only. (SECURITY.md)
  operations.delete('/metrics/cluster');
  return async (request: EngineRequest): Promise<Answer> => {
    const { method, path, headers } = request;
    const refused = guard?.refuseOther(request);
    if (refused) throw refused;
    const call = method === 'GET' ? operations.get(path) : undefined;
    if (!call) {
      throw new AppError(
        'NOT_FOUND',
        `no such path: ${path.slice(0, 200)}; sockets connect to ${SOCKET_PATH}`,
      );
    }
    const { authorization } = headers;
    try {
      return { status: 200, ...(await call(authorization)) };
    } catch (error) {
      return errorAnswer(error, authorization);
    }
  };
}
