import type { GatewayServer, GatewaySocket } from './socket.js';

/** What Socket.IO reads of the request that a connection came with. */
interface ConnectionRequest {
  headers: Record<string, string | undefined>;
  connection: object;
}

/** Engine.IO tells the peer's address apart from this; what else it has of a connection is of no use here. */
const NO_CONNECTION = {};

/**
 * Keeps of each connection's request the headers that say who calls, which are read when it enters the
 * namespace, at first and again, and lets go of the rest: a browser's headers alone would be as much
 * memory as Socket.IO needs for the connection. To be called once the server is attached.
 */
export function trimRequests(io: GatewayServer): void {
  io.engine.on('connection', (connection: { request: ConnectionRequest }) => {
    const { headers } = connection.request;
    connection.request = {
      headers: {
        authorization: headers.authorization,
        'user-agent': headers['user-agent'],
        'x-forwarded-for': headers['x-forwarded-for'],
      },
      connection: NO_CONNECTION,
    };
  });
}

/** The handshake of every connection that was let in: nothing is read of it any more. */
const LET_IN = Object.freeze({});

/** Lets go of what a connection that was let in has shown, its token above all. */
export function letGoOfHandshake(socket: GatewaySocket): void {
  Object.assign(socket, { handshake: LET_IN });
}
