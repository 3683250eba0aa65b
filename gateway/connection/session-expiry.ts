import { type CloseReason, closedBy, closeReason } from './close-reasons.js';
import type { GatewaySocket } from './socket.js';

/** How long before its token expires a client is warned, ms. */
const WARN_BEFORE_MS = 60_000;

/**
 * Scan interval for expiring tokens, ms. Only connections to be warned before the next scan get a timer: one
 * per connection from the start would waste memory.
 */
const SCAN_EVERY_MS = 20_000;

/** Sends the reason why a connection is about to be closed. */
export function announceClosing(socket: GatewaySocket, reason: CloseReason): void {
  socket.data.closedFor = closedBy(reason.code);
  socket.emit('closing', reason);
}

/** Sends the reason and closes the connection. */
export function closeSocket(socket: GatewaySocket, reason: CloseReason): void {
  announceClosing(socket, reason);
  // In the next turn of the event loop, so that the reason leaves first.
  setImmediate(() => socket.disconnect(true));
}

/** If the token expires soon, sets or replaces the timer that warns the client, then closes the connection. */
export function armExpiry(socket: GatewaySocket): void {
  const { data } = socket;
  const { expiresAt } = data.session;
  disarmExpiry(socket);
  const untilWarning = expiresAt - WARN_BEFORE_MS - Date.now();
  if (untilWarning > SCAN_EVERY_MS) return;
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
 * Arms connections whose token expires soon, at every scan.
 * @returns a function that stops scanning
 */
export function watchExpiries(sockets: ReadonlyMap<string, GatewaySocket>): () => void {
  const timer = setInterval(() => {
    for (const socket of sockets.values()) if (!socket.data.expiry) armExpiry(socket);
  }, SCAN_EVERY_MS);
  return () => clearInterval(timer);
}
