import type { Domain } from '../domain/domain.js';
import { AppError } from '../domain/kernel/errors.js';
import type { Live } from '../domain/kernel/live.js';
import { chatNoOf, memberRoom } from '../domain/kernel/socket-rooms.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import { closeReason } from './close-reasons.js';
import { clientEvents } from './events/index.js';
import { register } from './handle.js';
import type { Sequencer } from './sequencer.js';
import { armExpiry, closeSocket, disarmExpiry } from './session-expiry.js';
import type { GatewaySocket } from './socket.js';

const eventNames: ReadonlySet<string> = new Set(clientEvents.map(({ event }) => event));

/** Most connections of one member, unless limits are off; the oldest gives way. */
const MAX_CONNECTIONS = 50;

/** An event we do not have is answered where an answer is wanted, and ignored where not. */
function refuseUnknown([event, ...args]: unknown[], next: () => void): void {
  if (typeof event === 'string' && eventNames.has(event)) {
    next();
    return;
  }
  metrics.socketRequests.inc({ event: 'unknown', status: 404 });
  const ack = args.at(-1);
  if (typeof ack === 'function')
    ack(new AppError('UNKNOWN_EVENT', `no such event: ${String(event).slice(0, 64)}`).body);
}

/** @returns what is done with a connection that was let in */
export function createConnectionHandler(
  domain: Domain,
  live: Live,
  sequencer: Sequencer,
  config: Config,
  logger: Logger,
) {
  const connections = new Map<number, Set<GatewaySocket>>();

  function remember(memberNo: number, socket: GatewaySocket): void {
    const mine = connections.get(memberNo) ?? new Set();
    connections.set(memberNo, mine.add(socket));
    if (config.RATE_LIMIT === 'off' || mine.size <= MAX_CONNECTIONS) return;
    const oldest = mine.values().next().value as GatewaySocket;
    mine.delete(oldest);
    closeSocket(oldest, closeReason('TOO_MANY_CONNECTIONS'));
  }

  function forget(memberNo: number, socket: GatewaySocket): void {
    const mine = connections.get(memberNo);
    mine?.delete(socket);
    if (mine?.size === 0) connections.delete(memberNo);
  }

  return (socket: GatewaySocket): void => {
    const memberNo = socket.data.session.actor.no;
    metrics.sockets.inc();
    remember(memberNo, socket);
    void socket.join(memberRoom(memberNo));
    armExpiry(socket);
    socket.use(refuseUnknown);
    for (const definition of clientEvents) register({ domain, live, sequencer, logger, socket }, definition);

    socket.on('disconnecting', () => {
      const chatNos = [...socket.rooms].map(chatNoOf).filter((chatNo) => chatNo !== undefined);
      domain.chat
        .connectionClosed(memberNo, chatNos, socket.id)
        .catch((error) =>
          logger.error({ err: error, member: memberNo }, 'presence of a closed connection stays'),
        );
    });
    socket.on('disconnect', (reason) => {
      metrics.sockets.dec();
      metrics.socketsClosed.inc({ reason });
      disarmExpiry(socket);
      forget(memberNo, socket);
    });
    // Socket.IO throws an `error` event that nobody listens to.
    socket.on('error' as never, (error: Error) => {
      logger.warn({ err: error, member: memberNo }, 'socket error');
    });
  };
}
