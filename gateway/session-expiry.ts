import { metrics } from '../domain/platform/metrics.js';
import { type CloseReason, closeReason } from './close-reasons.js';
import type { GatewaySocket } from './socket.js';

/** How long, in ms, before its token ends a client is warned. */
const WARN_BEFORE_MS = 60_000;

/** Longest delay a timer takes, in ms; a token may last longer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Tells a client why, and closes its connection. */
export function closeSocket(socket: GatewaySocket, reason: CloseReason): void {
  metrics.socketsClosed.inc({ reason: reason.code });
  socket.emit('closing', reason);
  // Past this turn of the loop, so that the reason leaves first.
  setImmediate(() => socket.disconnect(true));
}

/** Warns a client before its token ends and closes the connection when it has. Replaces what was armed. */
export function armExpiry(socket: GatewaySocket): void {
  const { data } = socket;
  const { expiresAt } = data.session;
  disarmExpiry(socket);

  function after(ms: number, task: () => void): void {
    data.timers.expiry = setTimeout(
      ms > MAX_DELAY_MS ? () => after(ms - MAX_DELAY_MS, task) : task,
      Math.max(0, Math.min(ms, MAX_DELAY_MS)),
    );
  }

  after(expiresAt - WARN_BEFORE_MS - Date.now(), () => {
    socket.emit('auth:expiring', { expiresAt });
    after(expiresAt - Date.now(), () => closeSocket(socket, closeReason('TOKEN_EXPIRED')));
  });
}

export function disarmExpiry({ data }: GatewaySocket): void {
  clearTimeout(data.timers.expiry);
}
