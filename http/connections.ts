import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bytesTaken, closeQueued } from './node-internals.js';

export interface ConnectionLimits {
  /**
   * Time within which a client must read some of what it is sent, ms. Node has no such limit: its time-outs
   * are for requests, and its socket time-out restarts with every byte that a client sends.
   */
  stalledMs: number;
  /** Called for each connection that is destroyed because its client read nothing. */
  onStalled(): void;
}

/** Checks per `stalledMs`: a stalled connection is destroyed one check late at most. */
const CHECKS = 3;

/** Whether an answer has bytes that the kernel has not accepted; once accepted whole, it is closed. */
function hasBytesLeft(res: ServerResponse): boolean {
  return res.writableLength > 0 || res.writableEnded;
}

/**
 * The connections of a server with their open answers. Destroys those whose clients do not read what they are
 * sent, event streams included, and closes idle ones at shutdown without losing a request.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #answers = new Map<Socket, Set<ServerResponse>>();
  /** When a connection with bytes left last made progress (performance.now()). */
  readonly #progress = new WeakMap<Socket, { taken: number; at: number }>();
  /** Answers that were complete before `Connection: close` could be set. */
  readonly #keepAlive = new WeakSet<ServerResponse>();
  #draining = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', ({ socket }, res) => this.#open(socket, res));
    const timer = setInterval(() => this.#destroyStalled(), limits.stalledMs / CHECKS);
    server.once('close', () => clearInterval(timer));
  }

  /**
   * From now on every answer whose headers are not sent yet has `Connection: close` and ends its connection.
   * Idle connections stay open: the next request may already be under way, and would be lost.
   */
  startDraining(): void {
    this.#draining = true;
    for (const answers of this.#answers.values()) {
      for (const res of answers) {
        if (!res.headersSent) res.setHeader('Connection', 'close');
        else if (res.writableEnded) this.#keepAlive.add(res);
      }
    }
  }

  /**
   * Closes the idle connections, once the bytes that have arrived are read. Node's closeIdleConnections
   * leaves open those that never carried a request, which HTTP clients open in advance.
   */
  closeIdle(): void {
    // Timers run before sockets are read, setImmediate runs after.
    setImmediate(() => {
      for (const [socket, answers] of this.#answers) if (answers.size === 0) socket.end();
    });
  }

  #add(socket: Socket): void {
    const answers = new Set<ServerResponse>();
    this.#answers.set(socket, answers);
    socket.once('close', () => {
      this.#answers.delete(socket);
      closeQueued(answers);
    });
  }

  #open(socket: Socket, res: ServerResponse): void {
    const answers = this.#answers.get(socket);
    answers?.add(res);
    if (this.#draining) res.setHeader('Connection', 'close');
    res.once('close', () => {
      answers?.delete(res);
      // An event stream ended: its client is to reconnect to another process.
      if (this.#draining && !this.#keepAlive.has(res)) socket.end();
    });
  }

  #destroyStalled(): void {
    const now = performance.now();
    for (const [socket, answers] of this.#answers) {
      if (!this.#isStalled(socket, answers, now)) continue;
      this.#limits.onStalled();
      socket.destroy();
    }
  }

  #isStalled(socket: Socket, answers: Set<ServerResponse>, now: number): boolean {
    if (![...answers].some(hasBytesLeft)) {
      this.#progress.delete(socket);
      return false;
    }
    const taken = bytesTaken(socket);
    const last = this.#progress.get(socket);
    if (last?.taken === taken) return now - last.at >= this.#limits.stalledMs;
    this.#progress.set(socket, { taken, at: now });
    return false;
  }
}
