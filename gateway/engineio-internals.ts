import type { HttpRequest, HttpResponse, RecognizedString } from 'uWebSockets.js';
import type { AppError } from '../domain/kernel/errors.js';
import type { Allowance, ConnectionLimits } from './connection-limits.js';
import type { GatewayServer, GatewaySocket } from './socket.js';

/*
 * Every change to the internals of Engine.IO that WebSockets do not pass with each frame (socketio-internals.ts;
 * docs/decisions/patched-internals.md). The packages are pinned; test/gateway/socketio-internals.test.ts,
 * test/hostile/frames.test.ts and unread-answers.test.ts fail if they change underneath.
 */

/** Packet type. (Socket.IO protocol, 5) */
const CONNECT_ERROR = 4;

/** An answer, and what is to be done once the system has taken all of it. */
interface HttpAnswer extends HttpResponse {
  unsent?: boolean;
  onSent?: () => void;
}

/** Bytes a reader may lag before it is closed; it reconnects and catches up. */
export const MAX_BACKPRESSURE = 1024 * 1024;

/** A transport of Engine.IO; `res`, `onData` and `doWrite` are those of long-polling. */
export interface Transport {
  name: string;
  /** Its client does not read. Ours, as is `connection`. */
  isSlow?: boolean;
  /** What uWebSockets.js has of a WebSocket. */
  socket?: { getBufferedAmount(): number };
  /** The connection of this transport, or that may upgrade to it; absent without limits. */
  connection?: Connection;
  /** Wraps the answer to the poll under way. */
  res: { res: HttpAnswer };
  onData(body: string): void;
  doWrite(data: string, options: object, done: () => void): void;
}

/** An Engine.IO connection. */
export interface Connection {
  transport: Transport;
  /** Absent without limits. */
  allowance?: Allowance;
  upgraded: boolean;
  request: { headers: Record<string, string | undefined>; connection: { remoteAddress?: string } };
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
   * Answers a request that names no session, if its network has used up its budget, and all but polls of a session
   * that is being closed for sending too much. @returns whether it has
   */
  refuse(res: HttpResponse, req: HttpRequest): boolean;
  /** Charges frames that have arrived, before they are parsed, and closes a connection that has sent too much. @returns whether they may be parsed */
  mayPass(transport: Transport, frames: number, bytes: number): boolean;
}

/** Gives each connection its allowance. To be called before `trimRequests`, which drops the peer's address. */
export function limitFrames(io: GatewayServer, guard: ConnectionGuard): void {
  const { limits, networkOf } = guard;
  io.engine.on('connection', (connection: Connection) => {
    const { transport, request } = connection;
    const { remoteAddress = '' } = request.connection;
    const allowance = limits.open(networkOf(remoteAddress, request.headers['x-forwarded-for']));
    connection.allowance = allowance;
    transport.connection = connection;
    if (transport.name === 'websocket') {
      // Engine.IO would let it upgrade again and again, by requests that nobody pays for.
      connection.upgraded = true;
      // A listener would cost each WebSocket memory: `guardApp` has one for all.
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
      if (guard.mayPass(transport, limits.countPackets(body), Buffer.byteLength(body))) onData(body);
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

/** Bytes that the WebSockets in the namespace have not taken yet. */
export function unreadBytes(sockets: Iterable<GatewaySocket>): number {
  let bytes = 0;
  for (const socket of sockets) bytes += transportOf(socket).socket?.getBufferedAmount() ?? 0;
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
 * Closes a long-polling connection that more waits for than a WebSocket may have waiting, and counts an answer
 * as under way until the system has taken it: Engine.IO refuses the next poll before that.
 */
export function guardPolling(io: GatewayServer): void {
  io.engine.on('connection', (connection: Connection) => {
    const { transport } = connection;
    if (transport.name === 'websocket') return;
    let waiting = 0;
    connection.on('packetCreate', ({ data = '' }) => {
      if (waiting > MAX_BACKPRESSURE) {
        transport.isSlow = true;
        connection.close(true);
      }
      waiting += Buffer.byteLength(data);
    });
    connection.on('flush', () => {
      waiting = 0;
    });
    const doWrite = transport.doWrite.bind(transport);
    transport.doWrite = (data, options, done) => {
      const answer = transport.res.res;
      doWrite(data, options, () => {
        if (answer.unsent) answer.onSent = done;
        else done();
      });
    };
  });
}

/**
 * `HttpResponse.end` that buffers nothing. What the client does not read stays unsent: uWebSockets.js closes a
 * connection on which the next request arrives before that, or on which nothing is read for 10 s.
 */
export function endUnbuffered(this: HttpAnswer, body: RecognizedString = ''): HttpResponse {
  this.writeHeader('X-Content-Type-Options', 'nosniff');
  const bytes = Buffer.from(body as string);
  const start = this.getWriteOffset();
  const send = (from: number): boolean => {
    const [ok, done] = this.tryEnd(bytes.subarray(from), bytes.length);
    this.unsent = !done;
    return ok;
  };
  send(0);
  if (this.unsent)
    this.onWritable((offset) => {
      const ok = send(offset - start);
      if (!this.unsent) this.onSent?.();
      return ok;
    });
  return this;
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
