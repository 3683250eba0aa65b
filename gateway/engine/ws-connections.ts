import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import {
  type Connection,
  type ConnectionGuard,
  holdPolls,
  limitBacklog,
  MAX_BACKPRESSURE,
  type Transport,
} from './engineio-internals.js';
import { FrameMeter } from './frame-meter.js';

/*
 * What Engine.IO's connections on ws and node:http do not do by themselves (docs/decisions/patched-internals.md).
 */

/** Time within which a client must read some of an answer, or answer the end of its WebSocket, ms. uWebSockets.js has the same. */
export const UNREAD_MS = 10_000;

/** Time in which the reason may reach a client that has sent too much, ms. */
const FAREWELL_MS = 2_000;

/** The part of a WebSocket of ws that is used here. */
interface WebSocket extends EventEmitter {
  /** Bytes that the system has not taken yet. */
  readonly bufferedAmount: number;
  readonly readyState: number;
  /** The connection below, which Engine.IO uses, too. */
  readonly _socket: Socket;
  /** What parses frames. */
  readonly _receiver: { write(chunk: Buffer): boolean };
  /** Reads nothing more of the connection. */
  pause(): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
}

/** `readyState` of a WebSocket that nobody has closed. */
const OPEN = 1;

interface WebSocketTransport extends Transport {
  socket: WebSocket;
  doClose(done?: () => void): void;
}

/** A long-polling transport; `res` is the answer to the poll under way. */
interface Polling extends Transport {
  res: ServerResponse;
  /** The request with packets under way. */
  dataReq: IncomingMessage | undefined;
  doClose(done: () => void): void;
}

/** Ends a WebSocket: ws alone would wait half a minute for the client to agree, and read meanwhile. */
function endSocket(socket: WebSocket, code?: number, reason?: string): void {
  socket.close(code, reason);
  socket._socket?.end();
  setTimeout(() => socket.terminate(), UNREAD_MS).unref();
}

/** A shared function: each WebSocket has it. */
function doClose(this: WebSocketTransport, done?: () => void): void {
  endSocket(this.socket);
  done?.();
}

/**
 * Charges all that arrives before ws parses it, also on a connection that is closing. Of a connection that has sent too much,
 * ws parses and reads nothing more.
 */
function meter(transport: WebSocketTransport, guard: ConnectionGuard): void {
  const { socket } = transport;
  const frames = new FrameMeter();
  let isSpent = false;
  socket._socket.prependListener('data', (chunk: Buffer) => {
    if (isSpent || guard.mayPass(transport, frames.count(chunk), chunk.length)) return;
    isSpent = true;
    // Neither the client's agreement to the end nor its own end can be seen from now on.
    socket.pause();
    setTimeout(() => socket.terminate(), FAREWELL_MS).unref();
  });
  const { _receiver: receiver } = socket;
  const parse = receiver.write.bind(receiver);
  receiver.write = (chunk) => !isSpent && parse(chunk);
}

/** Limits what arrives, and refuses binary frames: no event has any. */
function guardFrames(
  transport: WebSocketTransport,
  guard: ConnectionGuard | undefined,
  callbacks: CallbackGuard,
): void {
  const { socket } = transport;
  callbacks.listeners('WebSocket', socket, () => socket.terminate());
  if (guard) meter(transport, guard);
  const [read] = socket.listeners('message') as ((data: Buffer, isBinary: boolean) => void)[];
  socket.removeAllListeners('message');
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (socket.readyState !== OPEN) return;
    if (isBinary) endSocket(socket, 1003, 'binary frames are not accepted');
    else read?.(data, isBinary);
  });
  // ws answers each ping, and keeps what the client does not read of the answers.
  socket.on('ping', () => {
    if (socket.bufferedAmount > MAX_BACKPRESSURE) socket.terminate();
  });
  transport.doClose = doClose;
  socket.once('close', () => guard?.closed(transport));
}

/** Bounds the answers of a long-polling transport. */
function guardPolls(transport: Polling): void {
  holdPolls(transport, ({ res }) => (done) => {
    if (res.writableFinished) done();
    else res.once('finish', done);
  });
  const doClose = transport.doClose.bind(transport);
  transport.doClose = (done) => {
    // Engine.IO would cut off a request whose packet leads to the close: its client would not say that it ends, too.
    transport.dataReq = undefined;
    doClose(done);
  };
}

/** Bytes that the system has not taken yet: of an answer to a poll none count. */
const unsentOf = (transport: Transport) => (transport as WebSocketTransport).socket?.bufferedAmount ?? 0;

/** Bounds what a new connection may send, and what may wait for it. */
export function guardConnection(
  connection: Connection,
  guard: ConnectionGuard | undefined,
  callbacks: CallbackGuard,
): void {
  const { transport } = connection;
  limitBacklog(connection, unsentOf);
  if (transport.name === 'websocket') {
    guardFrames(transport as WebSocketTransport, guard, callbacks);
    return;
  }
  guardPolls(transport as Polling);
  const maybeUpgrade = connection._maybeUpgrade.bind(connection);
  connection._maybeUpgrade = (to) => {
    guardFrames(to as WebSocketTransport, guard, callbacks);
    maybeUpgrade(to);
  };
}
