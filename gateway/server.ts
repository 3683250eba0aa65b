import {
  App,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { Server } from 'socket.io';
import type { Domain } from '../domain/domain.js';
import { AppError } from '../domain/kernel/errors.js';
import type { Live } from '../domain/kernel/live.js';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics, nameEngine } from '../domain/platform/metrics.js';
import { portFault, tryPort } from '../domain/platform/port-faults.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import { RequestLog } from '../domain/platform/request-log.js';
import { createSocketBus, type SocketBus } from '../domain/platform/socket-adapter.js';
import { watchSpareFiles } from '../domain/platform/spare-files.js';
import { createAuthentication } from './authenticate.js';
import { createConnectionHandler } from './connection.js';
import { createConnectionGuard, createOriginGuard } from './connection-guard.js';
import { ConnectionLimits } from './connection-limits.js';
import {
  type ConnectionGuard,
  guardPolling,
  limitFrames,
  sessionOf,
  trimRequests,
  unreadBytes,
} from './engineio-internals.js';
import { followRooms } from './follow-rooms.js';
import { endPresenceOnLeave } from './leave-chat-room.js';
import { serveOperations } from './operations.js';
import { watchExpiries } from './session-expiry.js';
import { shedConnects } from './shed-connects.js';
import type { GatewayServer } from './socket.js';
import { SocketLive } from './socket-live.js';
import { guardApp, Publisher } from './socketio-internals.js';

/** Largest frame accepted, bytes: the longest message with every character escaped, and a margin. */
const MAX_FRAME = 128 * 1024;

/** A half-open connection is detected within the sum of both, ms. */
const PING_INTERVAL_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;

/** Time for a connection to authenticate, ms. (contract, section 5) */
const CONNECT_TIMEOUT_MS = 10_000;

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports without a type. */
const EXCLUSIVE_PORT = 1;

/** LIBUS_LISTEN_DEFAULT: several processes take connections of one port (SO_REUSEPORT). */
const SHARED_PORT = 0;

/** The form of `listen` that takes host and options, which the package's types leave out. */
type Listen = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => void;

/** Closes new connections while the process is short of files. */
function guardFiles(app: TemplatedApp): void {
  const isShort = watchSpareFiles();
  /** @param change 1 for an accepted connection, -1 for one that has ended */
  function onChange(res: HttpResponse, change: number): void {
    if (change > 0 && isShort()) res.close();
  }
  app.filter(onChange);
}

/** Closes all connections, each at a random moment of the window (ms), to spread the reconnects. */
async function closeOver(io: GatewayServer, windowMs: number): Promise<void> {
  const sockets = [...io.of('/').sockets.values()];
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            socket.data.closedFor ??= 'drain';
            // The transport, not the session, so that the client reconnects automatically.
            socket.conn.close();
            resolve();
          }, Math.random() * windowMs);
        }),
    ),
  );
}

/** The Socket.IO server on uWebSockets.js. One per process: Socket.IO replaces methods of a shared prototype. */
export class Gateway {
  /** The domain's port to sockets. Usable at once; before `listen` there are no sockets. */
  readonly live: Live;
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #redis: RedisConnection | undefined;
  readonly #app = App();
  readonly #io: GatewayServer;
  readonly #socketLive: SocketLive;
  readonly #guard: ConnectionGuard | undefined;
  readonly #stopTimers: (() => void)[] = [];
  #listening: us_listen_socket | undefined;
  #isDraining = false;

  /** @param redis connects several gateways; without it this process is alone */
  constructor(config: Config, logger: Logger, redis?: RedisConnection) {
    this.#config = config;
    this.#logger = logger;
    this.#redis = redis;
    if (config.RATE_LIMIT === 'on') {
      this.#guard = createConnectionGuard(new ConnectionLimits(config), config, (id) =>
        sessionOf(this.#io, id),
      );
    }
    guardApp(this.#app, createOriginGuard(config), this.#guard);
    guardFiles(this.#app);
    const bus = redis && createSocketBus(redis, config.REDIS_ADAPTER);
    this.#io = this.#createServer(bus);
    this.live = this.#socketLive = new SocketLive(this.#io, bus);
  }

  #createServer(bus: SocketBus | undefined): GatewayServer {
    const { CORS_ORIGINS, GATEWAY_STICKY } = this.#config;
    const originAllowed = createOriginPolicy(CORS_ORIGINS);
    return new Server({
      path: '/socket.io/',
      serveClient: false,
      // The requests of one long-polling client must all reach one process.
      transports: bus && GATEWAY_STICKY === 'off' ? ['websocket'] : ['websocket', 'polling'],
      ...(bus ? { adapter: bus.adapter as never } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxHttpBufferSize: MAX_FRAME,
      pingInterval: PING_INTERVAL_MS,
      pingTimeout: PING_TIMEOUT_MS,
      // Synchronous: on uWebSockets.js an asynchronous answer fails every handshake.
      allowRequest: (_req, answer) => {
        if (this.#isDraining) answer('this process is going', false);
        else answer(null, true);
      },
      cors: {
        origin: (origin, answer) => answer(null, origin !== undefined && originAllowed(origin)),
        credentials: !CORS_ORIGINS?.includes('*'),
      },
    });
  }

  /**
   * Starts serving.
   * @param probe rejects with the reason while the service is not ready
   * @returns the port
   * @throws Error when the port cannot be bound
   */
  async listen(domain: Domain, probe: () => Promise<void>): Promise<number> {
    const io = this.#io;
    const requests = new RequestLog(this.#logger, this.#config.LOG_REQUESTS);
    io.use(createAuthentication(domain, this.#config, this.#logger, requests));
    serveOperations(this.#app, this.#config, async () => {
      if (this.#isDraining) throw new AppError('SERVICE_UNAVAILABLE', 'this process is going');
      await probe();
    });
    io.attachApp(this.#app);
    guardPolling(io);
    if (this.#guard) limitFrames(io, this.#guard);
    trimRequests(io);
    shedConnects(io, domain.overload);
    const publisher = new Publisher(io, this.#app);
    const { sequencer, views, comparer } = followRooms(domain, io, publisher, this.#redis, this.#logger);
    const { chat, notifications } = domain;
    this.#socketLive.serve({ chat, notifications, sequencer, views, comparer, publisher });
    endPresenceOnLeave(io, domain, this.#logger);
    const services = { domain, live: this.live, sequencer, logger: this.#logger, requests };
    io.on('connection', createConnectionHandler(services, publisher, this.#guard?.limits));
    comparer.start();
    const { sockets } = io.of('/');
    this.#stopTimers.push(
      () => comparer.stop(),
      watchExpiries(sockets),
      metrics.queueLength.watch(() => sequencer.waiting, { queue: 'pushes' }),
      metrics.unreadBytes.watch(() => unreadBytes(sockets.values()), { channel: 'sockets' }),
    );
    nameEngine('uws');
    if (this.#guard) this.#stopTimers.push(this.#guard.limits.start());
    return this.#openPort();
  }

  #openPort(): Promise<number> {
    const { HOST, GATEWAY_PORT } = this.#config;
    const listen = this.#app.listen.bind(this.#app) as unknown as Listen;
    return new Promise((resolve, reject) => {
      // A single process binds the port exclusively: uWebSockets.js would share it unnoticed.
      listen(HOST, GATEWAY_PORT, this.#redis ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
        if (!socket) {
          void this.#whyClosed().then((line) => reject(new Error(line)));
          return;
        }
        this.#listening = socket;
        resolve(us_socket_local_port(socket));
      });
    });
  }

  /** uWebSockets.js does not say why it cannot listen. */
  async #whyClosed(): Promise<string> {
    const { HOST, GATEWAY_PORT } = this.#config;
    const error = (await tryPort(HOST, GATEWAY_PORT)) ?? new Error('no reason is known');
    return portFault('GATEWAY_PORT', HOST, GATEWAY_PORT, error);
  }

  /** Accepts no new connections, tells clients when to reconnect, and closes their connections. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#stop();
    this.#io.local.emit('drain', { retryAfterMs: this.#config.DRAIN_WINDOW_MS });
    // A single process closes at once: there is no other to connect to.
    if (this.#redis) await closeOver(this.#io, this.#config.DRAIN_WINDOW_MS);
    await this.#io.close();
  }

  /** Closes what is still open. */
  async close(): Promise<void> {
    this.#stop();
    this.#app.close();
  }

  #stop(): void {
    if (this.#listening) us_listen_socket_close(this.#listening);
    this.#listening = undefined;
    for (const stop of this.#stopTimers.splice(0)) stop();
  }
}
