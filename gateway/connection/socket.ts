import type { Server, Socket } from 'socket.io';
import type { Session } from '../../domain/members/index.js';
import type { SerialQueue } from '../../domain/platform/async/serial-queue.js';
import type { ClientEvents, ServerEvents } from '../protocol.js';
import type { ClosedFor } from './close-reasons.js';

export interface SocketData {
  session: Session;
  /** Hash of the client, if it identifies its member (kernel/client.ts); with LEGACY_ANONYMOUS=off nobody asks for it. */
  client: string | undefined;
  /** Set if the token expires soon (session-expiry.ts). */
  expiry: NodeJS.Timeout | undefined;
  /** Joins and leaves (socket-queue.ts). */
  queue: SerialQueue | undefined;
  /** Set if this process closes it. */
  closedFor: ClosedFor | undefined;
}

export type GatewayServer = Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
export type GatewaySocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
