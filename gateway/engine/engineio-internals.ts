import type { AppError } from '../../domain/kernel/errors.js';
import type { GatewayServer, GatewaySocket } from '../connection/socket.js';
import type { Allowance, ConnectionLimits } from '../limits/connection-limits.js';
import type { EngineRequest } from './engine.js';

/*
 * Every change to the internals of Engine.IO that WebSockets do not pass with each frame (socketio-internals.ts;
 * docs/decisions/patched-internals.md). The packages are pinned; test/gateway/engine/socketio-internals.test.ts,
 * test/hostile/frames.test.ts and unread-answers.test.ts fail if they change underneath.
 */

/** Packet type. (Socket.IO protocol, 5) */
const CONNECT_ERROR = 4;

/** Bytes a reader may lag before it is closed; it reconnects and catches up. */
export const MAX_BACKPRESSURE = 1024 * 1024;

/** A transport of Engine.IO; `onData` and `doWrite` are those of long-polling. */
export interface Transport {
  name: string;
  /** Its client does not read. Ours, as is `connection`. */
  isSlow?: boolean;
  /** A WebSocket: what uWebSockets.js has of it, or ws, where it can also end without waiting for what is unsent. */
  socket?: { getBufferedAmount?(): number; bufferedAmount?: number; terminate?(): void; close?(): void };
  /** The connection of this transport, or that may upgrade to it; absent without limits. */
  connection?: Connection;
  /** Of long-polling: the poll, and the request with packets, that are under way. */
  req?: object | null;
  dataReq?: object | null | undefined;
  onData(body: string): void;
  onError(reason: string): void;
  doWrite(data: string, options: object, done: () => void): void;
}

/** An Engine.IO connection. */
export interface Connection {
  transport: Transport;
  /** Absent without limits. */
  allowance?: Allowance;
  /** What waits for the transport. */
  writeBuffer: { data?: string }[];
  upgrading: boolean;
  upgraded: boolean;
  /** Of the peer. */
  remoteAddress: string;
  request: { headers: Record<string, string | undefined>; connection: object };
  write(packet: string): void;
  close(discard?: boolean): void;
  _maybeUpgrade(to: Transport): void;
  on(event: 'packetCreate', listener: (packet: { data?: string }) => void): void;
  on(event: 'flush', listener: () => void): void;
  once(event: 'upgrade', listener: () => void): void;
  once(event: 'close', listener: () => void): void;
}

/** Applies the limits; absent with RATE_LIMIT=off. */
export interface ConnectionGuard {
  limits: ConnectionLimits;
  /** The network of a peer's address and the X-Forwarded-For header. */
  networkOf(remote: string, forwardedFor: string | undefined): string;
  /**
   * Refuses a request that names no session, if its network has used up its budget, and all but polls of a session
   * that is being closed for sending too much.
   * @param session the one that the request names, if there is one
   */
  refuse(request: EngineRequest, session: Connection | undefined): AppError | undefined;
  /** Refuses any other request, a preflight or a probe for instance, if its network has used up its budget. */
  refuseOther(request: EngineRequest): AppError | undefined;
  /** Charges what has arrived, before it is parsed, and closes a connection that has sent too much. @returns whether it may be parsed */
  mayPass(transport: Transport, frames: number, bytes: number): boolean;
  /** A WebSocket has closed. */
  closed(transport: Transport): void;
}

/** Gives each connection its allowance. To be called before `trimRequests`, which drops the peer's address. */
export function limitFrames(io: GatewayServer, guard: ConnectionGuard): void {
  const { limits, networkOf } = guard;
  io.engine.on('connection', (connection: Connection) => {
    const { transport, request, remoteAddress } = connection;
    const allowance = limits.open(networkOf(remoteAddress, request.headers['x-forwarded-for']));
    connection.allowance = allowance;
    transport.connection = connection;
    if (transport.name === 'websocket') {
      // Engine.IO would let it upgrade again and again, by requests that nobody pays for.
      connection.upgraded = true;
      // A listener would cost each WebSocket memory: the engine knows when it closes.
      return;
    }
    connection.once('close', () => limits.close(allowance));
    const maybeUpgrade = connection._maybeUpgrade.bind(connection);
    connection._maybeUpgrade = (to) => {
      to.connection = connection;
      guard.mayPass(to, 1, 0);
      maybeUpgrade(to);
    };
    const onData = transport.onData.bind(transport);
    transport.onData = (body) => {
      if (guard.mayPass(transport, limits.countPackets(body), 0)) onData(body);
    };
  });
}

/** What a connection may still send; undefined without limits. */
export function allowanceOf({ conn }: GatewaySocket): Allowance | undefined {
  return (conn as unknown as Connection).allowance;
}

/** The transport of a connection in the namespace. */
export function transportOf({ conn }: GatewaySocket): Transport {
  return conn.transport as unknown as Transport;
}

/** Calls back when a long-polling connection has become a WebSocket. */
export function onUpgrade({ conn }: GatewaySocket, done: () => void): void {
  (conn as unknown as Connection).once('upgrade', done);
}

/** Bytes that the WebSockets in the namespace have not taken yet: those that the engine buffers, and on ws those that wait for it. */
export function unreadBytes(sockets: Iterable<GatewaySocket>): number {
  let bytes = 0;
  for (const { conn } of sockets) {
    const { transport, writeBuffer } = conn as unknown as Connection;
    const { socket } = transport;
    if (!socket) continue;
    bytes += socket.getBufferedAmount?.() ?? socket.bufferedAmount ?? 0;
    for (const { data = '' } of writeBuffer) bytes += Buffer.byteLength(data);
  }
  return bytes;
}

/** The connection that has this id. */
export function sessionOf(io: GatewayServer, id: string): Connection | undefined {
  const { clients } = io.engine as unknown as { clients: Record<string, Connection> };
  return Object.hasOwn(clients, id) ? clients[id] : undefined;
}

/** Tells a connection that is not in the namespace why it is refused, and closes it. */
export function refuseConnection(connection: Connection, { code, body }: AppError): void {
  connection.write(`${CONNECT_ERROR}${JSON.stringify({ message: code, data: body })}`);
  connection.close();
}

/**
 * Closes a connection as soon as a packet is added to more than may wait for it. (fault 12)
 * @param unsentOf bytes that its transport has taken and the system has not
 */
export function limitBacklog(connection: Connection, unsentOf: (transport: Transport) => number): void {
  let waiting = 0;
  connection.on('packetCreate', ({ data = '' }) => {
    if (waiting + unsentOf(connection.transport) > MAX_BACKPRESSURE) {
      connection.transport.isSlow = true;
      connection.close(true);
      connection.transport.socket?.terminate?.();
    }
    waiting += Buffer.byteLength(data);
  });
  connection.on('flush', () => {
    waiting = 0;
  });
}

/**
 * Counts an answer to a poll as under way until the system has taken it: Engine.IO refuses the next poll before that.
 * @param afterSent waits for the answer that a transport is about to give
 */
export function holdPolls<T extends Transport>(
  transport: T,
  afterSent: (transport: T) => (done: () => void) => void,
): void {
  const doWrite = transport.doWrite.bind(transport);
  transport.doWrite = (data, options, done) => {
    const whenSent = afterSent(transport);
    doWrite(data, options, () => whenSent(done));
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
        origin: headers.origin,
        forwarded: headers.forwarded,
        'x-forwarded-for': headers['x-forwarded-for'],
        'x-real-ip': headers['x-real-ip'],
      },
      connection: NO_CONNECTION,
    };
  });
}
