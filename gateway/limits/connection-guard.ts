import { identifyClient, networkOf } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import { createOriginPolicy } from '../../domain/kernel/origins.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { closeReason } from '../connection/close-reasons.js';
import { announceClosing } from '../connection/session-expiry.js';
import type { EngineRequest } from '../engine/engine.js';
import {
  type Connection,
  type ConnectionGuard,
  refuseConnection,
  type Transport,
} from '../engine/engineio-internals.js';
import type { ConnectionLimits } from './connection-limits.js';

/** Errors by the reason under which metrics count them. */
const REFUSED = {
  handshakes: 'too many connects from this address',
  others: 'too many requests from this address',
  unadmitted: 'too many connections from this address that are not admitted yet',
  connections: 'too many connections from this address',
  frames: 'too much was sent before the connection was admitted, by it or by others of this address',
};

function refusal(reason: keyof typeof REFUSED, retryAfterMs?: number): AppError {
  metrics.limitHits.inc({ limit: reason });
  return new AppError('RATE_LIMITED', REFUSED[reason], retryAfterMs ? { retryAfterMs } : {});
}

/** A member is told by `closing` why the connection is closed, anybody else by `connect_error`. */
function closeSpent(connection: Connection): void {
  const { allowance } = connection;
  if (!allowance || allowance.isSpent) return;
  allowance.isSpent = true;
  const { socket } = allowance;
  if (!socket) {
    refuseConnection(connection, refusal('frames'));
    return;
  }
  announceClosing(socket, closeReason('TOO_MANY_FRAMES'));
  // At once: what else the connection has sent is not even parsed.
  socket.disconnect(true);
}

/** How browsers fetch images, frames and links, for which they send no Origin; never a Socket.IO client's requests. */
const NOT_OF_SCRIPTS = new Set(['no-cors', 'navigate']);

/**
 * @returns a function that refuses requests of pages that may not call, before they are charged to the address that
 *   such a page shares with its visitors. CORS does not stop a page's WebSocket
 */
export function createOriginGuard({ CORS_ORIGINS }: Pick<Config, 'CORS_ORIGINS'>) {
  const originAllowed = createOriginPolicy(CORS_ORIGINS);
  return ({ headers }: EngineRequest): AppError | undefined => {
    const { origin } = headers;
    const isForeign = origin
      ? !originAllowed(origin)
      : NOT_OF_SCRIPTS.has(headers['sec-fetch-mode'] as string);
    return isForeign ? new AppError('FORBIDDEN', 'this origin is not allowed') : undefined;
  };
}

/** Whether a request fetches what waits for its session. */
function isPoll({ method, isUpgrade }: EngineRequest): boolean {
  return method === 'GET' && !isUpgrade;
}

/** Bytes that the body of a request announces, 0 without one; undefined where they cannot be told before it has arrived. */
function bodyBytes({ headers }: EngineRequest): number | undefined {
  const length = headers['content-length'] ?? '0';
  return headers['transfer-encoding'] === undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** With them a page can read a refusal, which Engine.IO, and its CORS, never sees. `createOriginGuard` has let it pass. */
export function corsHeaders(
  { headers: { origin } }: EngineRequest,
  { CORS_ORIGINS }: Pick<Config, 'CORS_ORIGINS'>,
): Record<string, string> {
  if (!origin) return {};
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'Retry-After',
    ...(CORS_ORIGINS?.includes('*') ? {} : { 'Access-Control-Allow-Credentials': 'true' }),
    Vary: 'Origin',
  };
}

/** Applies the limits to requests and connections. */
export function createConnectionGuard(
  limits: ConnectionLimits,
  { TRUST_PROXY }: Pick<Config, 'TRUST_PROXY'>,
): ConnectionGuard {
  function network(remote: string, forwardedFor: string | undefined): string {
    return networkOf(
      identifyClient(remote, { 'x-forwarded-for': forwardedFor }, TRUST_PROXY, () => true).address,
    );
  }

  /** The error for a request of a session, which costs as much as a frame, and the bytes of its body, whether or not they arrive. */
  function refusalOf(session: Connection, request: EngineRequest): AppError | undefined {
    const { allowance } = session;
    if (!allowance) return undefined;
    const bytes = bodyBytes(request);
    if (!limits.take(allowance, 1, bytes ?? 0)) closeSpent(session);
    else if (bytes === undefined)
      return new AppError('INVALID_INPUT', 'Content-Length: must tell the bytes of the body');
    return allowance.isSpent && !isPoll(request)
      ? new AppError('INVALID_INPUT', 'this session is closing')
      : undefined;
  }

  const networkOfRequest = ({ remoteAddress, headers }: EngineRequest) =>
    network(remoteAddress, headers['x-forwarded-for'] as string | undefined);

  /** The error for a request that names no session. */
  function refusalOfConnect(request: EngineRequest): AppError | undefined {
    const reason = limits.refuses(networkOfRequest(request));
    return reason && refusal(reason, limits.retryAfterMs);
  }

  /** The error for a request that neither begins a connection nor belongs to one: probes, preflights, unknown paths. */
  function refuseOther(request: EngineRequest): AppError | undefined {
    if (limits.asks(networkOfRequest(request))) return undefined;
    return refusal('others', limits.retryAfterMs);
  }

  function refuse(request: EngineRequest, session: Connection | undefined): AppError | undefined {
    // A page's preflight.
    if (request.method === 'OPTIONS') return refuseOther(request);
    return session ? refusalOf(session, request) : refusalOfConnect(request);
  }

  function mayPass({ connection }: Transport, frames: number, bytes: number): boolean {
    if (connection?.allowance && limits.take(connection.allowance, frames, bytes)) return true;
    if (connection) closeSpent(connection);
    return false;
  }

  function closed(transport: Transport): void {
    const { connection } = transport;
    if (connection?.allowance && connection.transport === transport) limits.close(connection.allowance);
  }

  return { limits, networkOf: network, refuse, refuseOther, mayPass, closed };
}
