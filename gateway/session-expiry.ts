import { metrics } from '../domain/platform/metrics.js';
import { type CloseReason, closeReason } from './close-reasons.js';
import type { GatewaySocket } from './socket.js';

/** How long, in ms, before its token ends a client is warned. */
const WARN_BEFORE_MS = 60_000;

/**
 * How often, in ms, it is looked for what ends soon. One timer a connection from its beginning would be
 * memory for nothing: only those to be warned before the next look get one.
 */
const LOOK_EVERY_MS = 20_000;

/** Tells a client why, and closes its connection. */
export function closeSocket(socket: GatewaySocket, reason: CloseReason): void {
  metrics.socketsClosed.inc({ reason: reason.code });
  socket.emit('closing', reason);
  // Past this turn of the loop, so that the reason leaves first.
  setImmediate(() => socket.disconnect(true));
}

/**
 * Warns a client before its token ends and closes the connection when it has, if that is soon. Replaces
 * what was armed.
 */
export function armExpiry(socket: GatewaySocket): void {
  const { data } = socket;
  const { expiresAt } = data.session;
  disarmExpiry(socket);
  const untilWarning = expiresAt - WARN_BEFORE_MS - Date.now();
  if (untilWarning > LOOK_EVERY_MS) return;
  data.expiry = setTimeout(
    () => {
      socket.emit('auth:expiring', { expiresAt });
      data.expiry = setTimeout(
        () => closeSocket(socket, closeReason('TOKEN_EXPIRED')),
        Math.max(0, expiresAt - Date.now()),
      );
    },
    Math.max(0, untilWarning),
  );
}

export function disarmExpiry({ data }: GatewaySocket): void {
  clearTimeout(data.expiry);
  data.expiry = undefined;
}

/**
 * Looks regularly for connections whose token ends soon.
 * @returns a function that ends it
 */
export function watchExpiries(sockets: ReadonlyMap<string, GatewaySocket>): () => void {
  const timer = setInterval(() => {
    // Those that are armed go on by themselves.
    for (const socket of sockets.values()) if (!socket.data.expiry) armExpiry(socket);
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
