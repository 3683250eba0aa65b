import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { identifyClient, networkOf } from '../domain/kernel/client.js';
import { AppError } from '../domain/kernel/errors.js';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import type { Config } from '../domain/platform/config.js';
import { metrics } from '../domain/platform/metrics.js';
import { closeReason } from './close-reasons.js';
import type { ConnectionLimits } from './connection-limits.js';
import {
  type Connection,
  type ConnectionGuard,
  refuseConnection,
  type Transport,
} from './engineio-internals.js';
import { answer } from './operations.js';
import { announceClosing } from './session-expiry.js';

/** Errors by the reason under which metrics count them. */
const REFUSED = {
  handshakes: 'too many connects from this address',
  unadmitted: 'too many connections from this address that are not admitted yet',
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
 * @returns a function that answers requests of pages that may not call, before they are charged to the address that
 *   such a page shares with its visitors. It returns whether it has. CORS does not stop a page's WebSocket
 */
export function createOriginGuard({ CORS_ORIGINS }: Pick<Config, 'CORS_ORIGINS'>) {
  const originAllowed = createOriginPolicy(CORS_ORIGINS);
  return (res: HttpResponse, req: HttpRequest): boolean => {
    const origin = req.getHeader('origin');
    const isForeign = origin ? !originAllowed(origin) : NOT_OF_SCRIPTS.has(req.getHeader('sec-fetch-mode'));
    if (isForeign) answer(res, Promise.reject(new AppError('FORBIDDEN', 'this origin is not allowed')));
    return isForeign;
  };
}

/** The session that a request names, read as Engine.IO reads it: decoded, the last of several. */
function sessionIdOf(req: HttpRequest): string {
  return Object.fromEntries(new URLSearchParams(req.getQuery())).sid ?? '';
}

/** Read as Engine.IO reads it: the last of several, which is the one of the proxy that added a line of its own. */
function forwardedForOf(req: HttpRequest): string | undefined {
  let last: string | undefined;
  req.forEach((name, value) => {
    if (name === 'x-forwarded-for') last = value;
  });
  return last;
}

/** Whether a request fetches what waits for its session. */
function isPoll(req: HttpRequest): boolean {
  return req.getMethod() === 'get' && !req.getHeader('upgrade');
}

/**
 * Applies the limits to requests and connections.
 * @param sessionOf finds a connection by its id
 */
export function createConnectionGuard(
  limits: ConnectionLimits,
  { TRUST_PROXY }: Pick<Config, 'TRUST_PROXY'>,
  sessionOf: (id: string) => Connection | undefined,
): ConnectionGuard {
  function network(remote: string, forwardedFor: string | undefined): string {
    return networkOf(
      identifyClient(remote, { 'x-forwarded-for': forwardedFor }, TRUST_PROXY, () => true).address,
    );
  }

  function refuse(res: HttpResponse, req: HttpRequest): boolean {
    const session = sessionOf(sessionIdOf(req));
    if (session) {
      const isRefused = session.allowance?.isSpent === true && !isPoll(req);
      if (isRefused) answer(res, Promise.reject(new AppError('INVALID_INPUT', 'this session is closing')));
      return isRefused;
    }
    const remote = Buffer.from(res.getRemoteAddressAsText()).toString();
    const reason = limits.refuses(network(remote, forwardedForOf(req)));
    if (reason) answer(res, Promise.reject(refusal(reason, limits.retryAfterMs)));
    return reason !== undefined;
  }

  function mayPass({ connection }: Transport, frames: number, bytes: number): boolean {
    if (connection?.allowance && limits.take(connection.allowance, frames, bytes)) return true;
    if (connection) closeSpent(connection);
    return false;
  }

  return { limits, networkOf: network, refuse, mayPass };
}
