import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, on the way to its stop. */
export interface KeptAlive {
  /**
   * From now on every answer whose headers are not out says `Connection: close`, and ends its connection.
   * Those without a request stay: the next one may be on its way, and would be lost with them.
   */
  letGo(): void;
  /** Closes the connections that carry no request. */
  closeIdle(): void;
}

/**
 * Knows which connections of a server carry no request. Node's own closeIdleConnections, which
 * `server.close()` calls, leaves those open that never carried one, as HTTP clients open them in advance.
 */
export function trackKeptAlive(server: Server): KeptAlive {
  const idle = new Set<Socket>();
  const answers = new Set<ServerResponse>();
  /** Answers that were complete before their client could be told that the connection ends. */
  const untold = new WeakSet<ServerResponse>();
  let closing = false;

  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  server.on('request', (req, res) => {
    const { socket } = req;
    idle.delete(socket);
    answers.add(res);
    if (closing) res.setHeader('Connection', 'close');
    res.once('close', () => {
      answers.delete(res);
      // An event stream that ends: its client begins anew, and shall not do so here.
      if (closing && !untold.has(res)) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  });

  return {
    letGo() {
      closing = true;
      for (const res of answers) {
        if (!res.headersSent) res.setHeader('Connection', 'close');
        else if (res.writableEnded) untold.add(res);
      }
    },
    closeIdle() {
      for (const socket of idle) socket.end();
    },
  };
}
