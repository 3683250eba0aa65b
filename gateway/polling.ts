import type { GatewayServer } from './socket.js';

/** The part of an Engine.IO connection that tells how it is transported. */
interface Connection {
  transport: { name: string };
  once(event: 'upgrade' | 'close', listener: () => void): void;
}

/**
 * Counts this process's long-polling connections; one that has become a WebSocket is none any more.
 * To be called once the server is attached. @returns a function that tells how many there are
 */
export function countPolling(io: GatewayServer): () => number {
  const polling = new Set<Connection>();
  io.engine.on('connection', (connection: Connection) => {
    if (connection.transport.name === 'websocket') return;
    polling.add(connection);
    const forget = () => polling.delete(connection);
    connection.once('upgrade', forget);
    connection.once('close', forget);
  });
  return () => polling.size;
}
