import type { Server, Socket } from 'socket.io';
import type { Session } from '../domain/members/index.js';
import type { SerialQueue } from '../domain/platform/serial-queue.js';
import type { ClientEvents, ServerEvents } from './protocol.js';

/** What a connection knows of itself. */
export interface SocketData {
  session: Session;
  /** Set where its token ends soon, see session-expiry.ts. */
  expiry: NodeJS.Timeout | undefined;
  /** Joins and leaves (socket-queue.ts). */
  queue: SerialQueue | undefined;
}

export type GatewayServer = Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
export type GatewaySocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
