import type { HttpRequest, HttpResponse, TemplatedApp, WebSocketBehavior } from 'uWebSockets.js';
import * as uws from 'uWebSockets.js';
import { Adapter } from 'socket.io-adapter';
import {
  type Connection,
  type ConnectionGuard,
  endUnbuffered,
  MAX_BACKPRESSURE,
  type Transport,
} from './engineio-internals.js';
import type { GatewayServer, GatewaySocket } from './socket.js';

/*
 * Every change to the internals of Socket.IO, and what frames pass before Engine.IO; engineio-internals.ts has its
 * other changes (docs/decisions/patched-internals.md). The packages are pinned;
 * test/gateway/socketio-internals.test.ts fails if they change underneath.
 */

/** What Engine.IO keeps with a WebSocket. */
interface Upgraded {
  transport: Transport;
  response?: object | undefined;
}

/**
 * Sets what uWebSockets.js and Engine.IO do not do by themselves, to be called before anything is served. No
 * answer is buffered, or has uWebSockets.js's name. A WebSocket that does not read is closed (fault 12), where it
 * would lose messages unnoticed. Binary frames are refused: no event has any, and their bytes are only valid until the
 * handler returns. The handshake's response is released: Engine.IO keeps it for middleware that waits for the
 * end of the connection, which CORS does not.
 * @param refuseForeign answers requests of foreign pages, and returns whether it has
 */
export function guardApp(
  app: TemplatedApp,
  refuseForeign: (res: HttpResponse, req: HttpRequest) => boolean,
  guard: ConnectionGuard | undefined,
): void {
  const refuse = (res: HttpResponse, req: HttpRequest) =>
    refuseForeign(res, req) || guard?.refuse(res, req) === true;

  // For the whole process.
  (uws as unknown as { _cfg(key: string): void })._cfg('silent');
  const [get, any, ws] = [app.get.bind(app), app.any.bind(app), app.ws.bind(app)];
  app.get = (pattern, handler) =>
    get(pattern, (res, req) => {
      res.end = endUnbuffered;
      return handler(res, req);
    });
  app.any = (pattern, handler) =>
    any(pattern, (res, req) => {
      res.end = endUnbuffered;
      // Of other paths: the answer 404 costs no more than a refusal.
      if (pattern === '/*' || !refuse(res, req)) return handler(res, req);
    });
  app.ws = ((pattern: string, behavior: WebSocketBehavior<unknown>) => {
    const { upgrade, open, message, close } = behavior;
    return ws(pattern, {
      ...behavior,
      maxBackpressure: MAX_BACKPRESSURE,
      closeOnBackpressureLimit: true,
      upgrade(res, req, context) {
        res.end = endUnbuffered;
        if (!refuse(res, req)) return upgrade?.(res, req, context);
      },
      open(socket) {
        (socket.getUserData() as Upgraded).response = undefined;
        open?.(socket);
      },
      // Called for each message until uWebSockets.js closes the connection, in the next turn of the event loop.
      dropped(socket) {
        (socket.getUserData() as Upgraded).transport.isSlow = true;
      },
      message(socket, data, isBinary) {
        if (isBinary) socket.end(1003, 'binary frames are not accepted');
        else if (!guard || guard.mayPass((socket.getUserData() as Upgraded).transport, 1, data.byteLength))
          message?.(socket, data, isBinary);
      },
      close(socket, code, reason) {
        const { transport } = socket.getUserData() as Upgraded;
        const { connection } = transport;
        if (connection?.allowance && connection.transport === transport)
          guard?.limits.close(connection.allowance);
        close?.(socket, code, reason);
      },
    });
  }) as typeof app.ws;
}

/** Packet types. (Socket.IO protocol, 5) */
const EVENT = 2;
const ACK = 3;

type Packet = Parameters<Adapter['broadcast']>[0];

const NOBODY: Set<string> = new Set();
const LOCAL = Object.freeze({ local: true });

/**
 * Publishes to this process's sockets in a Socket.IO room, as Socket.IO's own adapter does on uWebSockets.js,
 * without its search of the room for long-polling sockets, which costs a third of a broadcast. While such
 * sockets are connected, the adapter does the work.
 */
export class Publisher {
  readonly #adapter: Adapter;
  readonly #app: TemplatedApp;
  readonly #polling = new Set<Connection>();

  /** @param io attached to the app */
  constructor(io: GatewayServer, app: TemplatedApp) {
    this.#adapter = io.of('/').adapter;
    this.#app = app;
    io.engine.on('connection', (connection: Connection) => this.#countPolling(connection));
  }

  #countPolling(connection: Connection): void {
    if (connection.transport.name === 'websocket') return;
    this.#polling.add(connection);
    const forget = () => this.#polling.delete(connection);
    connection.once('upgrade', forget);
    connection.once('close', forget);
  }

  event(room: string, event: string, payload: unknown): void {
    // Nothing is encoded for a room without sockets.
    if (this.#adapter.rooms.has(room)) this.#publish(room, EVENT, '', [event, payload]);
  }

  ack(connection: string, id: number, answer: object): void {
    this.#publish(connection, ACK, id, [answer]);
  }

  #publish(room: string, type: number, id: number | '', data: unknown[]): void {
    if (this.#polling.size > 0) {
      const packet: Packet = { type, data, ...(id === '' ? {} : { id }) };
      this.#adapter.broadcast(packet, { rooms: new Set([room]), except: NOBODY, flags: LOCAL });
    } else {
      // The topic is named by namespace and room; 4 is Engine.IO's message packet.
      this.#app.publish(`/\x1f${room}`, `4${type}${id}${JSON.stringify(data)}`);
    }
  }
}

/**
 * Sends a connection's acknowledgements by publishing to the room of its own id: uWebSockets.js writes
 * everything published in one turn of the event loop by one system call, while a direct send first flushes
 * what was published before.
 */
export function createAckPublisher(publisher: Publisher): (socket: GatewaySocket) => void {
  function ack(this: GatewaySocket, id: number): (answer: object) => void {
    return (answer) => publisher.ack(this.id, id, answer);
  }
  return (socket) => void Object.assign(socket, { ack });
}

/** Sends an event to a room on every process, this one by `interceptBroadcasts`. */
export function broadcastEverywhere(adapter: Adapter, room: string, data: unknown[]): void {
  adapter.broadcast({ type: EVENT, data }, { rooms: new Set([room]), except: NOBODY, flags: {} });
}

/**
 * Takes what `broadcastEverywhere` is about to deliver to this process's sockets. Every adapter does so through
 * the base adapter's `broadcast`, which Socket.IO replaces by a native publish when attached to uWebSockets.js.
 * Events flagged `local` pass: they are in order already.
 *
 * Call once per process, after `io.attachApp`; `io.close` undoes it.
 *
 * @param take gets the event's room and its data
 */
export function interceptBroadcasts(take: (room: string, data: unknown[]) => void): void {
  const { broadcast } = Adapter.prototype;
  Adapter.prototype.broadcast = function (this: Adapter, packet, opts): void {
    const [room] = opts.rooms;
    if (opts.flags?.local || room === undefined) broadcast.call(this, packet, opts);
    else take(room, packet.data ?? []);
  };
}

/** The handshake of every admitted connection: nothing reads it any more. */
const ADMITTED = Object.freeze({});

/** Drops the handshake of an admitted connection, and with it the token. */
export function dropHandshake(socket: GatewaySocket): void {
  Object.assign(socket, { handshake: ADMITTED });
}
