import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Knows which connections of a server carry no request, so that a stop need not wait for clients to
 * let go of them. Node's own closeIdleConnections leaves those open that never carried one, as HTTP
 * clients open them in advance.
 *
 * @returns a function that closes the idle ones now, and every other one once its answer is out
 */
export function trackKeptAlive(server: Server): () => void {
  const idle = new Set<Socket>();
  let closing = false;

  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.on('request', (req, res) => {
    const { socket } = req;
    idle.delete(socket);
    if (closing) res.setHeader('Connection', 'close');
    res.once('close', () => {
      if (closing) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  });

  return () => {
    closing = true;
    for (const socket of idle) socket.end();
  };
}
