import type { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import type { Connection, Transport } from './engineio-internals.js';

/*
 * What Engine.IO does in promises, timers and for other connections, which no callback of a server contains
 * (docs/decisions/patched-internals.md).
 */

/** A request as Engine.IO passes it on. */
type Asked = object;

type Done = (...args: unknown[]) => unknown;

/** What Engine.IO's two servers have in common. */
export interface EngineServer {
  _applyMiddlewares(req: Asked, res: unknown, done: Done): void;
  verify(req: Asked, isUpgrade: boolean, done: Done): void;
  handshake(transport: string, req: Asked, refuse: Done): Promise<unknown>;
  createTransport(name: string, req: Asked): Transport;
  prependListener(event: 'connection', listener: (connection: Connection) => void): unknown;
}

/** Called by its timers, by what is sent to it, and by the end of other connections. */
const OF_CONNECTION = ['sendPacket', 'flush', 'close', 'onClose', 'onError'];
const OF_TRANSPORT = ['send', 'write', 'doWrite', 'compress', 'doClose', 'onClose', 'onRequest', 'onData'];

function endTransport(self: unknown): void {
  const { socket } = self as Transport;
  try {
    (self as Transport).onError('internal error');
  } finally {
    socket?.close?.();
  }
}

/**
 * Contains what Engine.IO's server, its connections and transports throw.
 * @param end ends the connection of a request
 */
export function containEngine(engine: EngineServer, guard: CallbackGuard, end: (req: Asked) => void): void {
  const { _applyMiddlewares: apply, verify, handshake, createTransport } = engine;
  engine._applyMiddlewares = (req, res, done) =>
    apply.call(
      engine,
      req,
      res,
      guard.wrap('middleware', () => end(req), done),
    );
  engine.verify = (req, isUpgrade, done) =>
    verify.call(
      engine,
      req,
      isUpgrade,
      guard.wrap('verified', () => end(req), done),
    );
  engine.handshake = guard.wrap('handshake', (_, [, req]) => end(req as Asked), handshake);
  engine.createTransport = (name, req) => {
    const transport = createTransport.call(engine, name, req);
    guard.methods(Object.getPrototypeOf(transport), OF_TRANSPORT, endTransport);
    return transport;
  };
  engine.prependListener('connection', (connection) =>
    guard.methods(Object.getPrototypeOf(connection), OF_CONNECTION, (self) =>
      endTransport((self as Connection).transport),
    ),
  );
}
