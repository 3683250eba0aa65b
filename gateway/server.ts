import { Server, type ServerOptions } from 'socket.io';
import type { Domain } from '../domain/domain.js';
import { AppError } from '../domain/kernel/errors.js';
import type { Live } from '../domain/kernel/live.js';
import { createOriginPolicy } from '../domain/kernel/origins.js';
import { onRestore } from '../domain/platform/cluster/restores.js';
import { createSocketBus, type SocketBus } from '../domain/platform/cluster/socket-adapter.js';
import type { Logger } from '../domain/platform/observe/logger.js';
import { measureStages } from '../domain/platform/observe/message-stages.js';
import { metrics, nameEngine } from '../domain/platform/observe/metrics.js';
import { RequestLog } from '../domain/platform/observe/request-log.js';
import type { Overload } from '../domain/platform/process/overload.js';
import { portFault, tryPort } from '../domain/platform/process/port-faults.js';
import type { RedisConnection } from '../domain/platform/redis/connection.js';
import type { Config } from '../domain/platform/settings/config.js';
import { createAuthentication } from './connection/authenticate.js';
import type { ClosedFor } from './connection/close-reasons.js';
import { createConnectionHandler } from './connection/connection.js';
import { endPresenceOnLeave } from './connection/leave-chat-room.js';
import { watchExpiries } from './connection/session-expiry.js';
import type { GatewayServer } from './connection/socket.js';
import { parameterOf, transportFault } from './connection/transport-faults.js';
import { type Engine, type EngineRequest, SOCKET_PATH } from './engine/engine.js';
import {
  type ConnectionGuard,
  limitFrames,
  sessionOf,
  trimRequests,
  unreadBytes,
} from './engine/engineio-internals.js';
import { openEngine } from './engine/open-engine.js';
import { corsHeaders, createConnectionGuard, createOriginGuard } from './limits/connection-guard.js';
import { ConnectionLimits } from './limits/connection-limits.js';
import { errorAnswer, lastAnswer, serveOperations } from './operations.js';
import { followRooms } from './order/follow-rooms.js';
import { SocketLive } from './socket-live.js';

/** Connections of TCP that an address may have for each socket it may have: one more socket is refused with a reason, and idle connections are bounded. */
export const TCP_PER_SOCKET = 2;

/** Largest frame accepted, bytes: the longest message with every character escaped, and a margin. */
export const MAX_FRAME = 128 * 1024;

/** A half-open connection is detected within the sum of both, ms. */
export const PING_INTERVAL_MS = 20_000;
export const PING_TIMEOUT_MS = 10_000;

/** Time for a connection to authenticate, ms: apps fetch the token once it is open, some over a slow line. (contract, section 5) */
export const CONNECT_TIMEOUT_MS = 30_000;

/** Why a process that drains takes on nothing. */
const going = () => new AppError('SERVICE_UNAVAILABLE', 'this process is shutting down');

/** Closes all connections, each at a random moment of the window (ms), to spread the reconnects. */
async function closeOver(io: GatewayServer, windowMs: number, reason: ClosedFor): Promise<void> {
  const sockets = [...io.of('/').sockets.values()];
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          setTimeout(() => {
            socket.data.closedFor ??= reason;
            // The transport, not the session, so that the client reconnects automatically.
            socket.conn.close();
            resolve();
          }, Math.random() * windowMs);
        }),
    ),
  );
}

/** The Socket.IO server. One per process: Socket.IO replaces methods of a shared prototype. */
export class Gateway {
  /** The domain's port to sockets. Usable at once; before `listen` there are no sockets. */
  readonly live: Live;
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #redis: RedisConnection | undefined;
  readonly #engine: Engine;
  readonly #options: Partial<ServerOptions>;
  readonly #io: GatewayServer;
  readonly #socketLive: SocketLive;
  readonly #guard: ConnectionGuard | undefined;
  readonly #stopTimers: (() => void)[] = [];
  #isDraining = false;

  private constructor(config: Config, logger: Logger, engine: Engine, redis: RedisConnection | undefined) {
    this.#config = config;
    this.#logger = logger;
    this.#engine = engine;
    this.#redis = redis;
    if (config.RATE_LIMIT === 'on') this.#guard = createConnectionGuard(new ConnectionLimits(config), config);
    const bus = redis && createSocketBus(redis, config.REDIS_ADAPTER);
    this.#options = this.#createOptions(bus);
    this.#io = new Server(this.#options);
    this.live = this.#socketLive = new SocketLive(this.#io, bus);
  }

  /**
   * @param redis connects several gateways; without it this process is alone
   * @throws Error with GATEWAY_ENGINE=uws where uWebSockets.js has no binary
   */
  static async open(config: Config, logger: Logger, redis?: RedisConnection): Promise<Gateway> {
    return new Gateway(config, logger, await openEngine(config, logger), redis);
  }

  #createOptions(bus: SocketBus | undefined): Partial<ServerOptions> {
    const { CORS_ORIGINS, GATEWAY_STICKY } = this.#config;
    const originAllowed = createOriginPolicy(CORS_ORIGINS);
    return {
      path: SOCKET_PATH,
      serveClient: false,
      // The requests of one long-polling client must all reach one process.
      transports: bus && GATEWAY_STICKY === 'off' ? ['websocket'] : ['websocket', 'polling'],
      ...(bus ? { adapter: bus.adapter as never } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxHttpBufferSize: MAX_FRAME,
      pingInterval: PING_INTERVAL_MS,
      pingTimeout: PING_TIMEOUT_MS,
      cors: {
        origin: (origin, answer) => answer(null, origin !== undefined && originAllowed(origin)),
        credentials: !CORS_ORIGINS?.includes('*'),
      },
    };
  }

  /**
   * Starts serving.
   * @param probe rejects with the reason while the service is not ready
   * @returns the port
   * @throws Error when the port cannot be bound
   */
  async listen(domain: Domain, probe: () => Promise<void>): Promise<number> {
    const io = this.#io;
    const { TRUST_PROXY, SOCKET_CONNECTIONS, MESSAGE_STAGES } = this.#config;
    measureStages(MESSAGE_STAGES);
    const requests = new RequestLog(this.#logger, this.#config.LOG_REQUESTS);
    io.use(createAuthentication(domain, this.#config, this.#logger, requests));
    const refuseForeign = createOriginGuard(this.#config);
    const publisher = this.#engine.attach(io, this.#options, {
      refuse: (request) => {
        if (request.path !== SOCKET_PATH) return lastAnswer(this.#guard?.refuseOther(request));
        const foreign = refuseForeign(request);
        if (foreign) return lastAnswer(foreign);
        const session = sessionOf(io, parameterOf(request, 'sid'));
        const limited = this.#guard?.refuse(request, session);
        const error =
          limited ?? this.#refuseConnect(domain.overload, request) ?? transportFault(request, session);
        const answer = limited?.code === 'RATE_LIMITED' ? lastAnswer(limited) : error && errorAnswer(error);
        return answer && { ...answer, headers: corsHeaders(request, this.#config) };
      },
      serve: serveOperations(this.#config, async () => {
        if (this.#isDraining) throw going();
        await probe();
      }),
      guard: this.#guard,
      perAddress:
        this.#guard && TRUST_PROXY === 0 ? TCP_PER_SOCKET * SOCKET_CONNECTIONS : Number.POSITIVE_INFINITY,
    });
    if (this.#guard) limitFrames(io, this.#guard);
    trimRequests(io);
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
      // What their clients and this process know of rooms is ahead of the database: they come back and join anew. At once, as what
      // is delivered until then may take a client's cursor past messages that it does not have.
      onRestore(() => void closeOver(io, 0, 'restore')),
      watchExpiries(sockets),
      metrics.queueLength.watch(() => sequencer.waiting, { queue: 'pushes' }),
      metrics.unreadBytes.watch(() => unreadBytes(sockets.values()), { channel: 'sockets' }),
    );
    if (this.#guard) this.#stopTimers.push(this.#guard.limits.start());
    return this.#openPort();
  }

  /**
   * While the process drains or is overloaded, handshakes are refused with HTTP 503: after that, Socket.IO's client tries
   * again by itself, later each time. What belongs to a session passes.
   */
  #refuseConnect(overload: Overload, request: EngineRequest): AppError | undefined {
    if (parameterOf(request, 'sid') !== '' || request.method === 'OPTIONS') return undefined;
    return this.#isDraining ? going() : overload.refuse('connect');
  }

  async #openPort(): Promise<number> {
    const { HOST, GATEWAY_PORT } = this.#config;
    const { name, unshared } = this.#engine;
    const shared = this.#redis !== undefined;
    const port = await this.#engine.listen(HOST, GATEWAY_PORT, shared);
    if (port === undefined) {
      const why = shared && unshared ? `; ${unshared}` : '';
      throw new Error(`${await this.#whyClosed()}${why}`);
    }
    if (shared && unshared) this.#logger.warn(`this gateway does not share its port: ${unshared}`);
    nameEngine(name);
    return port;
  }

  /** Engines do not say why they cannot listen. */
  async #whyClosed(): Promise<string> {
    const { HOST, GATEWAY_PORT } = this.#config;
    const error = (await tryPort(HOST, GATEWAY_PORT)) ?? new Error('no reason is known');
    return portFault('GATEWAY_PORT', HOST, GATEWAY_PORT, error);
  }

  /** Accepts no new connections, tells clients when to reconnect, and closes their connections. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#engine.stopAccepting();
    this.#io.local.emit('drain', { retryAfterMs: this.#config.DRAIN_WINDOW_MS });
    // A single process closes at once: there is no other to connect to.
    if (this.#redis) await closeOver(this.#io, this.#config.DRAIN_WINDOW_MS, 'drain');
    await this.#io.close();
    // Not before: open connections are served as ever, and their limits, tokens and rooms looked after.
    this.#stop();
  }

  /** Closes what is still open. */
  async close(): Promise<void> {
    this.#stop();
    this.#engine.close();
  }

  #stop(): void {
    for (const stop of this.#stopTimers.splice(0)) stop();
  }
}
