import type { Server, Socket } from 'socket.io';
import type { Client } from '../domain/kernel/client.js';
import type { Session } from '../domain/members/index.js';
import type { ClientEvents, ServerEvents } from './protocol.js';

/** What a connection knows of itself. */
export interface SocketData {
  session: Session;
  client: Client;
  timers: { expiry?: NodeJS.Timeout };
  /** The last of its joins and leaves, see turns.ts. */
  turn?: Promise<void>;
}

export type GatewayServer = Server<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
export type GatewaySocket = Socket<ClientEvents, ServerEvents, Record<string, never>, SocketData>;
