import type { Server, Socket } from 'socket.io';
import type { Session } from '../domain/members/index.js';
import type { ClientEvents, ServerEvents } from './protocol.js';

/** What a connection knows of itself. */
export interface SocketData {
  session: Session;
  /** Set where its token ends soon, see session-expiry.ts. */
  expiry: NodeJS.Timeout | undefined;
  /** The last of its joins and leaves, see turns.ts. */
  turn: Promise<void> | undefined;
}

export type GatewayServer = Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
export type GatewaySocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
