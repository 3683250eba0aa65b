import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { announceKeepAlive } from '../domain/platform/process/keep-alive.js';
import { ConnectionsPerAddress } from '../domain/platform/rate-limits/connections-per-address.js';
import { bytesTaken } from './node-internals.js';

/** Why a connection was closed, for metrics. */
export type ClosedFor = 'stalled' | 'slow' | 'memory' | 'pipelined' | 'address';

export interface ConnectionLimits {
  /**
   * Time within which a client must read some of what it is sent, ms. Node has no such limit: its time-outs
   * are for requests, and its socket time-out restarts with every byte that a client sends.
   */
  stalledMs: number;
  /** Time within which a client must read an answer to its end, ms; event streams have no end. */
  answerMs: number;
  /** Bytes of answers and of waiting requests that all connections together may hold; the oldest are closed. */
  heldBytes: number;
  /** Connections that an address may have; of IPv6 addresses a /64 counts as one. */
  perAddress: number;
  /** Called for each connection that is destroyed. */
  onClosed(reason: ClosedFor): void;
}

interface Connection {
  readonly socket: Socket;
  /** The answer to the request being handled. */
  current: ServerResponse | undefined;
  /** Requests that arrived meanwhile. */
  readonly waiting: { req: IncomingMessage; res: ServerResponse; bytes: number }[];
  waitingBytes: number;
  /** The part of `current` that the kernel has not accepted, once it is complete; since when, performance.now(). */
  unsent: { bytes: number; since: number } | undefined;
  /** When a connection with bytes left last made progress. */
  progress: { taken: number; at: number } | undefined;
}

/** Checks per `stalledMs`: a stalled connection is destroyed one check late at most. */
const CHECKS = 3;

/** Memory of a waiting request beside its URL and headers, bytes, rounded up. */
const REQUEST_BYTES = 2_048;

/** Bytes of waiting requests on one connection: a thousand small ones. No browser or proxy pipelines. */
export const MAX_WAITING = 2 * 1024 * 1024;

function sizeOf({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, REQUEST_BYTES + url.length);
}

/** Whether an answer has bytes that the kernel has not accepted; once accepted whole, it is closed. */
function hasBytesLeft(res: ServerResponse): boolean {
  return res.writableLength > 0 || res.writableEnded;
}

/**
 * The connections of a server. Handles one request of a connection at a time: the next one once the kernel has
 * accepted the answer before. Destroys those whose clients do not read what they are sent, event streams
 * included, and closes idle ones at shutdown without losing a request.
 */
export class Connections {
  readonly #handle: RequestListener;
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<Socket, Connection>();
  /** Connections that hold bytes, the oldest first. */
  readonly #holding = new Set<Connection>();
  #heldBytes = 0;
  readonly #perAddress: ConnectionsPerAddress;
  /** Answers that were complete before `Connection: close` could be set. */
  readonly #doneBeforeDraining = new WeakSet<ServerResponse>();
  #draining = false;

  /** How many connections are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Bytes of answers that are not read yet, and of requests that wait behind them. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param handle writes the answer, whole when it resolves; only an event stream goes on */
  constructor(server: Server, handle: RequestListener, limits: ConnectionLimits) {
    this.#handle = handle;
    this.#limits = limits;
    this.#perAddress = new ConnectionsPerAddress(limits.perAddress);
    server.on('connection', (socket) => this.#add(socket));
    server.on('request', (req, res) => this.#arrive(req, res));
    const timer = setInterval(() => this.#destroyUnread(), limits.stalledMs / CHECKS);
    server.once('close', () => clearInterval(timer));
  }

  /**
   * From now on every answer whose headers are not sent yet has `Connection: close` and ends its connection.
   * Idle connections stay open: the next request may already be under way, and would be lost.
   */
  startDraining(): void {
    this.#draining = true;
    for (const { current } of this.#open.values()) {
      if (!current) continue;
      if (!current.headersSent) current.setHeader('Connection', 'close');
      else if (current.writableEnded) this.#doneBeforeDraining.add(current);
    }
  }

  /**
   * Closes the idle connections, once the bytes that have arrived are read. Node's closeIdleConnections
   * leaves open those that never carried a request, which HTTP clients open in advance.
   */
  closeIdle(): void {
    // Timers run before sockets are read, setImmediate runs after.
    setImmediate(() => {
      for (const { socket, current } of this.#open.values()) if (!current) socket.end();
    });
  }

  #add(socket: Socket): void {
    if (!this.#perAddress.add(socket)) {
      this.#limits.onClosed('address');
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      current: undefined,
      waiting: [],
      waitingBytes: 0,
      unsent: undefined,
      progress: undefined,
    };
    this.#open.set(socket, connection);
    // Emitted once; `once` would take memory of its own for as long as the connection is open.
    socket.on('close', () => {
      this.#open.delete(socket);
      this.#release(connection);
    });
  }

  #arrive(req: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(req.socket);
    if (!connection || req.socket.destroyed) return;
    if (!connection.current) {
      this.#start(connection, req, res);
      return;
    }
    const bytes = sizeOf(req);
    connection.waiting.push({ req, res, bytes });
    connection.waitingBytes += bytes;
    this.#hold(connection, bytes);
    if (connection.waitingBytes > MAX_WAITING) this.#destroy(connection, 'pipelined');
  }

  #start(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    connection.current = res;
    announceKeepAlive(res);
    if (this.#draining) res.setHeader('Connection', 'close');
    res.on('close', () => this.#finish(connection, res));
    void Promise.resolve(this.#handle(req, res)).then(() => {
      const { writableLength: bytes, writableEnded } = res;
      if (connection.current !== res || !writableEnded || bytes === 0 || req.socket.destroyed) return;
      connection.unsent = { bytes, since: performance.now() };
      this.#hold(connection, bytes);
    });
  }

  /** The kernel has accepted the answer, or the connection was closed. */
  #finish(connection: Connection, res: ServerResponse): void {
    const { socket, unsent, waiting } = connection;
    connection.current = undefined;
    connection.progress = undefined;
    connection.unsent = undefined;
    if (unsent) this.#hold(connection, -unsent.bytes);
    // An event stream ended: its client is to reconnect to another process.
    if (this.#draining && !this.#doneBeforeDraining.has(res)) socket.end();
    const next = waiting[0];
    // Where nothing more is sent, nothing more is done.
    if (!next || socket.writableEnded || socket.destroyed) return;
    waiting.shift();
    connection.waitingBytes -= next.bytes;
    this.#hold(connection, -next.bytes);
    this.#start(connection, next.req, next.res);
  }

  /** Counts more, or fewer, bytes of a connection, and closes the oldest ones if all hold too many. */
  #hold(connection: Connection, bytes: number): void {
    this.#heldBytes += bytes;
    if (heldBy(connection) > 0) this.#holding.add(connection);
    else this.#holding.delete(connection);
    for (const oldest of this.#holding) {
      if (this.#heldBytes <= this.#limits.heldBytes) return;
      this.#destroy(oldest, 'memory');
    }
  }

  #release(connection: Connection): void {
    if (!this.#holding.delete(connection)) return;
    this.#heldBytes -= heldBy(connection);
    connection.waiting.length = 0;
    connection.waitingBytes = 0;
    connection.unsent = undefined;
  }

  #destroy(connection: Connection, reason: ClosedFor): void {
    this.#limits.onClosed(reason);
    this.#release(connection);
    connection.socket.destroy();
  }

  #destroyUnread(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const { unsent } = connection;
      if (unsent && now - unsent.since >= this.#limits.answerMs) this.#destroy(connection, 'slow');
      else if (this.#isStalled(connection, now)) this.#destroy(connection, 'stalled');
    }
  }

  #isStalled(connection: Connection, now: number): boolean {
    const { socket, current, progress } = connection;
    if (!current || !hasBytesLeft(current)) {
      connection.progress = undefined;
      return false;
    }
    const taken = bytesTaken(socket);
    if (progress?.taken === taken) return now - progress.at >= this.#limits.stalledMs;
    connection.progress = { taken, at: now };
    return false;
  }
}

function heldBy({ waitingBytes, unsent }: Connection): number {
  return waitingBytes + (unsent?.bytes ?? 0);
}
