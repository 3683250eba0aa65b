import type { Domain } from '../domain/domain.js';
import type { Live } from '../domain/kernel/live.js';
import { memberRoom } from '../domain/kernel/socket-rooms.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import { publishAcknowledgements } from './acknowledgements.js';
import { closeReason } from './close-reasons.js';
import { clientEvents } from './events/index.js';
import { createDispatcher } from './handle.js';
import { letGoOfHandshake } from './handshake.js';
import type { Sequencer } from './sequencer.js';
import { armExpiry, closeSocket, disarmExpiry } from './session-expiry.js';
import type { GatewaySocket } from './socket.js';

/** Most connections of one member, unless limits are off; the oldest gives way. */
const MAX_CONNECTIONS = 50;

/**
 * Why a connection is no longer in the namespace although it is open. It is closed then: its WebSocket
 * would go on receiving, because Socket.IO forgets its rooms without telling uWebSockets.js.
 */
const NAMESPACE_LEFT = new Set(['client namespace disconnect', 'server namespace disconnect']);

/** Makes room for a connection that has just entered its member's Socket.IO room, where the oldest is first. */
function giveWay({ nsp }: GatewaySocket, memberNo: number): void {
  const mine = nsp.adapter.rooms.get(memberRoom(memberNo));
  if (!mine || mine.size <= MAX_CONNECTIONS) return;
  const oldest = nsp.sockets.get(mine.values().next().value as string) as GatewaySocket | undefined;
  if (!oldest) return;
  // Now, not when it is closed: the next one that comes would find it there again.
  void oldest.leave(memberRoom(memberNo));
  closeSocket(oldest, closeReason('TOO_MANY_CONNECTIONS'));
}

/**
 * Each connection keeps its listeners for as long as it is open: all share these few functions, which
 * Socket.IO calls with the connection as `this`.
 *
 * @returns what is done with a connection that was let in
 */
export function createConnectionHandler(
  domain: Domain,
  live: Live,
  sequencer: Sequencer,
  config: Config,
  logger: Logger,
) {
  const dispatch = createDispatcher({ domain, live, sequencer, logger }, clientEvents);

  function onDisconnect(this: GatewaySocket, reason: string): void {
    metrics.sockets.dec();
    metrics.socketsClosed.inc({ reason });
    disarmExpiry(this);
    if (NAMESPACE_LEFT.has(reason)) this.conn.close();
  }

  /** What a client sends under this name arrives here, too. */
  function onError(this: GatewaySocket, error: unknown): void {
    if (!(error instanceof Error)) return;
    logger.warn({ err: error, member: this.data.session.actor.no }, 'socket error');
  }

  return (socket: GatewaySocket): void => {
    const memberNo = socket.data.session.actor.no;
    metrics.sockets.inc();
    letGoOfHandshake(socket);
    publishAcknowledgements(socket);
    void socket.join(memberRoom(memberNo));
    if (config.RATE_LIMIT !== 'off') giveWay(socket, memberNo);
    armExpiry(socket);
    socket.onAny(dispatch);
    socket.on('disconnect', onDisconnect);
    socket.on('error' as never, onError as never);
  };
}
