import { memberRoom } from '../../domain/kernel/socket-rooms.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import type { Publisher } from '../engine/engine.js';
import { allowanceOf, onUpgrade, transportOf } from '../engine/engineio-internals.js';
import { createSharedListening, releaseUnused } from '../engine/socketio-internals.js';
import { createDispatcher, type HandlerServices } from '../events/handle.js';
import { clientEvents } from '../events/index.js';
import type { ConnectionLimits } from '../limits/connection-limits.js';
import { closedAfter, closeReason } from './close-reasons.js';
import { armExpiry, closeSocket, disarmExpiry } from './session-expiry.js';
import type { GatewaySocket } from './socket.js';

/** Most connections of one member, without limits any number; a further one closes the oldest. */
export const MAX_CONNECTIONS = 50;

/**
 * Reasons that leave an open connection without its namespace. It is closed then: Socket.IO forgets its rooms
 * without unsubscribing its WebSocket, which would continue to receive.
 */
const NAMESPACE_LEFT = new Set(['client namespace disconnect', 'server namespace disconnect']);

/** Closes the member's oldest connection, the first in their Socket.IO room, if there are too many. */
function limitConnections({ nsp }: GatewaySocket, memberNo: number): void {
  const room = nsp.adapter.rooms.get(memberRoom(memberNo));
  if (!room || room.size <= MAX_CONNECTIONS) return;
  const oldest = nsp.sockets.get(room.values().next().value as string) as GatewaySocket | undefined;
  if (!oldest) return;
  // Synchronously: the next connection must not find it in the room again.
  void oldest.leave(memberRoom(memberNo));
  closeSocket(oldest, closeReason('TOO_MANY_CONNECTIONS'));
}

/** Counts a connection by its transport, which may change once. */
function countOpen(socket: GatewaySocket): void {
  const { name: transport } = transportOf(socket);
  metrics.sockets.inc({ transport });
  metrics.socketsOpened.inc({ transport });
  if (transport !== 'polling') return;
  onUpgrade(socket, () => {
    metrics.sockets.dec({ transport });
    metrics.sockets.inc({ transport: transportOf(socket).name });
  });
}

/**
 * @returns a function that sets up an admitted connection. All connections share these listeners, which
 *   Socket.IO calls with the connection as `this`: separate ones cost memory
 */
export function createConnectionHandler(
  services: HandlerServices,
  publisher: Pick<Publisher, 'prepare'>,
  limits: ConnectionLimits | undefined,
): (socket: GatewaySocket) => void {
  function onDisconnect(this: GatewaySocket, reason: string): void {
    const { name: transport, isSlow } = transportOf(this);
    metrics.sockets.dec({ transport });
    metrics.socketsClosed.inc({
      transport,
      reason: this.data.closedFor ?? (isSlow ? 'slow' : closedAfter(reason)),
    });
    services.requests.answered(200, () => ({
      socket: this.id,
      event: 'disconnect',
      reason,
      member: this.data.session.actor.no,
    }));
    disarmExpiry(this);
    if (NAMESPACE_LEFT.has(reason)) this.conn.close();
  }

  function onError(this: GatewaySocket, error: unknown): void {
    if (!(error instanceof Error)) return;
    const { id: socket, data } = this;
    services.requests.answered(400, () => ({
      ...{ socket, event: 'error', reason: error.message, member: data.session.actor.no },
    }));
  }

  const listen = createSharedListening({
    any: createDispatcher(services, clientEvents),
    disconnect: onDisconnect,
    error: onError,
  });
  return (socket) => {
    const memberNo = socket.data.session.actor.no;
    countOpen(socket);
    releaseUnused(socket);
    publisher.prepare(socket);
    void socket.join(memberRoom(memberNo));
    if (limits) {
      const allowance = allowanceOf(socket);
      if (allowance) limits.admit(allowance, socket);
      limitConnections(socket, memberNo);
    }
    armExpiry(socket);
    listen(socket);
  };
}
