import {
  App,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocketBehavior,
} from 'uWebSockets.js';
import { Server } from 'socket.io';
import type { Domain } from '../domain/domain.js';
import { AppError } from '../domain/kernel/errors.js';
import type { Live } from '../domain/kernel/live.js';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import { createSocketAdapter } from '../domain/platform/socket-adapter.js';
import { createSocketLive } from '../domain/platform/socket-live.js';
import { createAuthentication } from './authenticate.js';
import { createConnectionHandler } from './connection.js';
import { emitHere, interceptDeliveries } from './deliveries.js';
import { followRooms } from './follow-rooms.js';
import { trimRequests } from './handshake.js';
import { endPresenceOnLeave } from './leave-chat-room.js';
import { serveOperations } from './operations.js';
import { countPolling } from './polling.js';
import { watchExpiries } from './session-expiry.js';
import type { GatewayServer } from './socket.js';

/** Largest frame taken, in bytes: the longest message, every character escaped, and room to spare. */
const MAX_FRAME = 128 * 1024;

/** Bytes a reader may lag before it is closed; it comes back and catches up. */
const MAX_BACKPRESSURE = 1024 * 1024;

/** A half-open connection is found within the sum of both, in ms. */
const PING_INTERVAL_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;

/** Time, in ms, a connection has to authenticate. (contract, section 5) */
const CONNECT_TIMEOUT_MS = 10_000;

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports without a type. */
const EXCLUSIVE_PORT = 1;

/** LIBUS_LISTEN_DEFAULT: several processes take connections of one port (SO_REUSEPORT). */
const SHARED_PORT = 0;

/** The form of `listen` that takes host and options both; the package's types leave it out. */
type Listen = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => void;

export interface Gateway {
  /** The domain's port to sockets. Usable at once; there is nobody to hear it before `listen`. */
  live: Live;
  /**
   * Starts serving.
   * @param probe rejects with what stands in the way of serving
   * @returns the port
   * @throws Error when the port is taken
   */
  listen(domain: Domain, probe: () => Promise<void>): Promise<number>;
  /** Takes no new connections and tells clients to come back later, then closes them. */
  drain(): Promise<void>;
  /** Ends everything that is left. */
  close(): Promise<void>;
}

/**
 * The two things of uWebSockets.js that engine.io does not pass on. A reader that does not read is
 * closed instead of silently losing messages, and binary frames are refused: their bytes live in
 * memory that is taken back when the handler returns, and no event of ours has any. And one that it
 * keeps: the answer to the handshake, for middleware that waits for the connection's end, as CORS does not.
 */
function guardWebSockets(app: TemplatedApp): void {
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

/** Closes all connections, each at a random moment of the time given (ms): not everybody comes back at once. */
async function closeOver(io: GatewayServer, windowMs: number): Promise<void> {
  const sockets = [...io.of('/').sockets.values()];
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            // The transport, not the session: its client comes back by itself.
            socket.conn.close();
            resolve();
          }, Math.random() * windowMs);
        }),
    ),
  );
}

/**
 * Creates the Socket.IO server on uWebSockets.js: one per process, it patches a shared prototype.
 *
 * @param redis joins several gateways into one; without it this process is alone
 */
export function createGateway(config: Config, logger: Logger, redis?: RedisConnection): Gateway {
  const originAllowed = createOriginPolicy(config.CORS_ORIGINS);
  const app = App();
  guardWebSockets(app);
  let listening: us_listen_socket | undefined;
  let draining = false;

  const io: GatewayServer = new Server({
    path: '/socket.io/',
    serveClient: false,
    // The requests of one long-polling client must all reach one process.
    transports: redis && config.GATEWAY_STICKY === 'off' ? ['websocket'] : ['websocket', 'polling'],
    ...(redis ? { adapter: createSocketAdapter(redis, config.REDIS_ADAPTER) as never } : {}),
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxHttpBufferSize: MAX_FRAME,
    pingInterval: PING_INTERVAL_MS,
    pingTimeout: PING_TIMEOUT_MS,
    // Must answer at once: on uWebSockets.js an asynchronous one fails every handshake. CORS alone
    // does not stop a foreign page's WebSocket, so the origin is judged here.
    allowRequest: (req, answer) => {
      const { origin } = req.headers;
      if (draining) answer('this process is going', false);
      else if (origin !== undefined && !originAllowed(origin)) answer('origin not allowed', false);
      else answer(null, true);
    },
    cors: {
      origin: (origin, answer) => answer(null, origin !== undefined && originAllowed(origin)),
      credentials: !config.CORS_ORIGINS?.includes('*'),
    },
  });
  let stopComparing = () => {};
  let stopWatching = () => {};
  const live = createSocketLive({
    send(room, event, payload, note) {
      io.to(room).emit(event, ...((note === undefined ? [payload] : [payload, note]) as never));
    },
    sendHere: (room, event, payload) => emitHere(io.of('/').adapter, room, event, payload),
    isIn: (room, connection) => io.of('/').adapter.rooms.get(room)?.has(connection) ?? false,
    leave: (room, connection) => void io.of('/').sockets.get(connection)?.leave(room),
  });

  /** Takes nothing new in, and ends what runs by the clock. */
  function stop(): void {
    if (listening) us_listen_socket_close(listening);
    listening = undefined;
    stopComparing();
    stopWatching();
  }

  return {
    live,

    async listen(domain, probe) {
      io.use(createAuthentication(domain, config));
      const followed = followRooms(domain, io, redis, logger);
      const { sequencer, news } = followed;
      stopComparing = followed.stop;
      stopWatching = watchExpiries(io.of('/').sockets);
      io.on('connection', createConnectionHandler(domain, live, sequencer, config, logger));
      endPresenceOnLeave(io, domain, logger);
      serveOperations(app, config, async () => {
        if (draining) throw new AppError('SERVICE_UNAVAILABLE', 'this process is going');
        await probe();
      });
      io.attachApp(app);
      trimRequests(io);
      interceptDeliveries(domain, sequencer, news, countPolling(io));
      const { HOST, GATEWAY_PORT } = config;
      return new Promise<number>((resolve, reject) => {
        // Alone, exclusively: uWebSockets.js would share the port with another process without a word.
        const listen = app.listen.bind(app) as unknown as Listen;
        listen(HOST, GATEWAY_PORT, redis ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
          if (!socket) {
            reject(new Error(`GATEWAY_PORT: ${HOST}:${GATEWAY_PORT} is taken`));
            return;
          }
          listening = socket;
          resolve(us_socket_local_port(socket));
        });
      });
    },

    async drain() {
      draining = true;
      stop();
      io.local.emit('drain', { retryAfterMs: config.DRAIN_WINDOW_MS });
      // Alone, there is nobody else to come to: waiting would only make the stop long.
      if (redis) await closeOver(io, config.DRAIN_WINDOW_MS);
      await io.close();
    },

    async close() {
      stop();
      app.close();
    },
  };
}
