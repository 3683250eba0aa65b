import type { TemplatedApp, WebSocketBehavior } from 'uWebSockets.js';
import { Adapter } from 'socket.io-adapter';
import type { GatewayServer, GatewaySocket } from './socket.js';

/*
 * Every change to the internals of Socket.IO, Engine.IO included (docs/decisions/patched-internals.md). The packages
 * are pinned; test/gateway/socketio-internals.test.ts fails if they change underneath.
 */

/** Bytes a reader may lag before it is closed; it reconnects and catches up. */
const MAX_BACKPRESSURE = 1024 * 1024;

/**
 * Sets what Engine.IO does not pass on, to be called before it attaches. A reader that does not read is
 * closed, where it would lose messages unnoticed. Binary frames are refused: no event has any, and their
 * bytes are only valid until the handler returns. The handshake's response is released: Engine.IO keeps it
 * for middleware that waits for the end of the connection, which CORS does not.
 */
export function guardWebSockets(app: TemplatedApp): void {
  const ws = app.ws.bind(app);
  app.ws = ((pattern: string, behavior: WebSocketBehavior<unknown>) => {
    const { open, message } = behavior;
    return ws(pattern, {
      ...behavior,
      maxBackpressure: MAX_BACKPRESSURE,
      closeOnBackpressureLimit: true,
      open(socket) {
        (socket.getUserData() as { response?: object | undefined }).response = undefined;
        open?.(socket);
      },
      message(socket, data, isBinary) {
        if (isBinary) socket.end(1003, 'binary frames are not accepted');
        else message?.(socket, data, isBinary);
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

/** An Engine.IO connection. */
interface Connection {
  transport: { name: string };
  request: { headers: Record<string, string | undefined>; connection: object };
  once(event: 'upgrade' | 'close', listener: () => void): void;
}

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

/** Sends an event to a room on every process. Adapters deliver it here, too, through `interceptBroadcasts`. */
export function broadcastEverywhere(adapter: Adapter, room: string, data: unknown[]): void {
  adapter.broadcast({ type: EVENT, data }, { rooms: new Set([room]), except: NOBODY, flags: {} });
}

/**
 * Takes what an adapter is about to deliver to this process's sockets, sent by whichever process. Every
 * adapter does so through the base adapter's `broadcast`, which Socket.IO replaces by a native publish
 * when attached to uWebSockets.js. Events flagged `local` pass: they are in order already.
 *
 * Call once per process, after `io.attachApp`; `io.close` undoes it.
 *
 * @param take gets the event's room, its data, and a function that delivers it unchanged
 */
export function interceptBroadcasts(take: (room: string, data: unknown[], pass: () => void) => void): void {
  const { broadcast } = Adapter.prototype;
  Adapter.prototype.broadcast = function (this: Adapter, packet, opts): void {
    const pass = () => broadcast.call(this, packet, opts);
    if (opts.flags?.local) pass();
    else take(opts.rooms.values().next().value ?? '', packet.data ?? [], pass);
  };
}

/** Engine.IO reads the peer's address elsewhere. */
const NO_CONNECTION = {};

/**
 * Keeps only the headers that identify the caller of each connection's request: they are read when it enters
 * the namespace, also on a second try. A browser's headers take as much memory as Socket.IO's own connection.
 */
export function trimRequests(io: GatewayServer): void {
  io.engine.on('connection', (connection: Connection) => {
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

/** The handshake of every admitted connection: nothing reads it any more. */
const ADMITTED = Object.freeze({});

/** Drops the handshake of an admitted connection, and with it the token. */
export function dropHandshake(socket: GatewaySocket): void {
  Object.assign(socket, { handshake: ADMITTED });
}
