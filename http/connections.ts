import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, with the answers under way on each. */
export interface Connections {
  /**
   * From now on every answer whose headers are not out says `Connection: close`, and ends its connection.
   * Those without a request stay: the next one may be on its way, and would be lost with them.
   */
  letGo(): void;
  /**
   * Closes the connections that carry no request, once those that have arrived are read. Node's own
   * closeIdleConnections, which `server.close()` calls, leaves those open that never carried one, as HTTP
   * clients open them in advance.
   */
  closeIdle(): void;
}

export interface ConnectionLimits {
  /**
   * Time, in ms, in which a client has to take some of what it is sent. Node has no such limit: its
   * time-outs are about requests, and its socket time-out starts anew with every byte that a client sends.
   */
  stalledMs: number;
  /** Called for each connection that is destroyed because its client took nothing. */
  onStalled(): void;
}

/** Looks in that time. A client is given up one look later at the latest. */
const LOOKS = 3;

/** How far a connection's answers had got when they were last seen to move. */
interface Progress {
  taken: number;
  /** By performance.now(). */
  at: number;
}

/**
 * Bytes that the system has taken of what was written to a connection. Node's own `bytesWritten` counts
 * those too that wait in the process, and `writableLength` a large one as a whole until its end.
 */
function takenOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten: number; writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

/** Whether the system has not taken all of an answer. One it has taken whole is no longer among those under way. */
function hasBytesLeft(res: ServerResponse): boolean {
  return res.writableLength > 0 || res.writableEnded;
}

/**
 * Follows the connections of a server: which carry no request, for a stop that loses none, and whose
 * clients do not take their answers: those are destroyed, event streams among them.
 */
export function trackConnections(server: Server, { stalledMs, onStalled }: ConnectionLimits): Connections {
  const connections = new Map<Socket, Set<ServerResponse>>();
  /** Of connections that had bytes left at the last look. */
  const progress = new WeakMap<Socket, Progress>();
  /** Answers that were complete before their client could be told that the connection ends. */
  const untold = new WeakSet<ServerResponse>();
  let closing = false;

  server.on('connection', (socket) => {
    const answers = new Set<ServerResponse>();
    connections.set(socket, answers);
    socket.once('close', () => {
      connections.delete(socket);
      // Node tells the answer that was being sent; those queued behind it would wait for ever.
      for (const res of answers) if (res.socket === null) res.destroy().emit('close');
    });
  });

  server.on('request', ({ socket }, res) => {
    const answers = connections.get(socket);
    answers?.add(res);
    if (closing) res.setHeader('Connection', 'close');
    res.once('close', () => {
      answers?.delete(res);
      // An event stream that ends: its client is to reconnect to another process.
      if (closing && !untold.has(res)) socket.end();
    });
  });

  /** Whether a client has taken nothing of what it is sent for too long. */
  function isStalled(socket: Socket, answers: Set<ServerResponse>, now: number): boolean {
    if (![...answers].some(hasBytesLeft)) {
      progress.delete(socket);
      return false;
    }
    const taken = takenOf(socket);
    const last = progress.get(socket);
    if (last?.taken === taken) return now - last.at >= stalledMs;
    progress.set(socket, { taken, at: now });
    return false;
  }

  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, answers] of connections) {
      if (!isStalled(socket, answers, now)) continue;
      onStalled();
      socket.destroy();
    }
  }, stalledMs / LOOKS);
  server.once('close', () => clearInterval(timer));

  return {
    letGo() {
      closing = true;
      for (const answers of connections.values()) {
        for (const res of answers) {
          if (!res.headersSent) res.setHeader('Connection', 'close');
          else if (res.writableEnded) untold.add(res);
        }
      }
    },
    closeIdle() {
      // After a busy moment the timer that calls this runs before the sockets are read, and a request that
      // has long been here would be lost. setImmediate runs after that.
      setImmediate(() => {
        for (const [socket, answers] of connections) if (answers.size === 0) socket.end();
      });
    },
  };
}
