import type { ExtendedError } from 'socket.io';
import type { Domain } from '../../domain/domain.js';
import { type ClientHeaders, clientHash } from '../../domain/kernel/client.js';
import { AppError } from '../../domain/kernel/errors.js';
import { tokenOf } from '../../domain/members/index.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import type { RequestLog } from '../../domain/platform/observe/request-log.js';
import { toAppError } from '../../domain/platform/process/failures.js';
import { createClientIdentifier } from '../../domain/platform/rate-limits/identify-client.js';
import type { Config } from '../../domain/platform/settings/config.js';
import type { GatewaySocket } from './socket.js';

/** The token of a handshake: `auth.token`, else the Authorization header. */
function handshakeToken({ handshake }: GatewaySocket): string {
  const { token } = handshake.auth as { token?: unknown };
  if (token !== undefined && typeof token !== 'string') {
    throw new AppError('UNAUTHORIZED', 'auth.token: must be text');
  }
  const raw = tokenOf(token ?? handshake.headers.authorization ?? '');
  if (!raw) throw new AppError('UNAUTHORIZED', 'auth.token: is missing');
  return raw;
}

/**
 * Socket.IO middleware that admits a connection, or refuses it with a `connect_error` whose `data` is the
 * error body. (contract, section 5)
 */
export function createAuthentication(
  { members, chat }: Domain,
  config: Config,
  logger: Logger,
  requests: RequestLog,
) {
  const identifyClient = createClientIdentifier(config, logger);
  /** Connections in the namespace or about to enter it. */
  const entering = new WeakSet<GatewaySocket['conn']>();

  return (socket: GatewaySocket, next: (error?: ExtendedError) => void): void => {
    const { conn } = socket;
    if (entering.has(conn)) {
      // Socket.IO does the same with a second connect request, but only once the first is answered.
      conn.close();
      next(new Error('this connection has already sent a connect request'));
      return;
    }
    entering.add(conn);
    const { address } = socket.handshake;
    // Neither engine makes a list of a header that is sent twice.
    const client = identifyClient(address, socket.handshake.headers as ClientHeaders);

    async function admit(): Promise<void> {
      const session = await members.authenticate(handshakeToken(socket));
      const hash = config.LEGACY_ANONYMOUS === 'off' ? undefined : clientHash(client);
      socket.data = { session, client: hash, expiry: undefined, queue: undefined, closedFor: undefined };
      chat.noteClient(hash, session.actor.no);
    }

    admit().then(
      () => {
        const { actor } = socket.data.session;
        requests.answered(200, () => ({
          socket: socket.id,
          event: 'connect',
          status: 200,
          member: actor.no,
        }));
        next();
      },
      (thrown) => {
        const error = toAppError(thrown);
        const { status } = error;
        requests.answered(status, () => ({ socket: socket.id, event: 'connect', status }), error);
        // The client may try again with another token.
        entering.delete(conn);
        next(Object.assign(new Error(error.code), { data: error.body }));
      },
    );
  };
}
