import { challengeOf } from '../domain/kernel/challenge.js';
import { AppError } from '../domain/kernel/errors.js';
import { toAppError } from '../domain/platform/process/failures.js';
import { createOperations, JSON_TYPE, type OperationsConfig } from '../domain/platform/process/operations.js';
import { type Answer, type EngineRequest, SOCKET_PATH } from './engine/engine.js';

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

/** A refusal that ends its connection: what else has been sent on it, which may be any number of requests, is not even looked at. */
export function lastAnswer(error: AppError | undefined): Answer | undefined {
  return error && { ...errorAnswer(error), closes: true };
}

/** The answer to a request whose head can be read in two ways. */
export function framingAnswer({ framingFault }: EngineRequest): Answer | undefined {
  return framingFault === undefined ? undefined : lastAnswer(new AppError('INVALID_INPUT', framingFault));
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
 * @returns a function that answers requests to other paths than Socket.IO's
 */
export function serveOperations(config: OperationsConfig, probe: () => Promise<void>) {
  const operations = createOperations(config, probe, 'clients');
  // On the HTTP port and METRICS_PORT only. (SECURITY.md)
  operations.delete('/metrics/cluster');
  return async ({ method, path, headers }: EngineRequest): Promise<Answer> => {
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
