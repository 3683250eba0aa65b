import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Domain } from '../domain/domain.js';
import type { Logger } from '../domain/platform/observe/logger.js';
import { metrics } from '../domain/platform/observe/metrics.js';
import { endAbandoned } from '../domain/platform/process/abandoned-requests.js';
import { CallbackGuard } from '../domain/platform/process/callback-guard.js';
import { portFault } from '../domain/platform/process/port-faults.js';
import { SpareFiles } from '../domain/platform/process/spare-files.js';
import type { Config } from '../domain/platform/settings/config.js';
import { createApp } from './app.js';
import { Connections } from './connections.js';
import type { SocketDescription } from './docs/asyncapi.js';
import { stopAccepting } from './node-internals.js';
import type { Probe } from './operations.routes.js';
import { refuseFraming } from './refuse-framing.js';
import { shedLoad } from './shed-load.js';
import { StreamHub } from './sse/stream-hub.js';

/** Time for a client to send its headers, and its whole request, ms; checked every CHECK_MS, by default 30 s. */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 20_000;
const CHECK_MS = 1_000;

/**
 * Largest head of a request, bytes; a larger one is answered 431. A token (8 kB) may be in it twice, in the
 * Authorization header and in the cookie, beside other headers: Node's default of 16 KiB is too small.
 */
export const MAX_HEAD = 32 * 1024;

/**
 * Time within which a client must read some of its answers or event stream, ms; its connection is destroyed
 * otherwise. Longer than a phone is usually offline in a tunnel.
 */
export const STALLED_MS = 30_000;

/** Time within which a client must read an answer to its end, ms: 16 MiB, more than the largest, at 60 kB/s. */
export const ANSWER_MS = 300_000;

/** Time for running requests to finish in a stop once idle connections are closed, ms. */
const FINISH_MS = 3_000;

/** Shares of a short SHUTDOWN_TIMEOUT_MS after which idle, and all, connections are closed; the rest is the domain's. */
const IDLE_SHARE = 0.75;
const CLOSED_SHARE = 0.9;

/** Times, ms, that a client has; tests have shorter ones. */
export interface ClientTimes {
  headersMs: number;
  requestMs: number;
  stalledMs: number;
  answerMs: number;
}

const CLIENT_TIMES: ClientTimes = {
  headersMs: HEADERS_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
  stalledMs: STALLED_MS,
  answerMs: ANSWER_MS,
};

/** The REST and event-stream server. */
export class HttpServer {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #times: ClientTimes;
  #running?: { server: Server; streams: StreamHub; connections: Connections };

  constructor(config: Config, logger: Logger, times: Partial<ClientTimes> = {}) {
    this.#config = config;
    this.#logger = logger;
    this.#times = { ...CLIENT_TIMES, ...times };
  }

  /**
   * Starts serving.
   * @param probe rejects with the reason why the process cannot serve
   * @param sockets the gateway, as the documents and the demo page show it
   * @returns the port
   * @throws Error when the port cannot be bound
   */
  async listen(domain: Domain, probe: Probe, sockets: SocketDescription): Promise<number> {
    const { HOST, HTTP_PORT, HTTP_HELD_MIB, HTTP_CONNECTIONS, LEGACY_ANONYMOUS, KEEP_ALIVE_MS } =
      this.#config;
    const isLimited = this.#config.RATE_LIMIT === 'on';
    const { headersMs, requestMs, stalledMs, answerMs } = this.#times;
    if (LEGACY_ANONYMOUS === 'open')
      this.#logger.warn(
        'LEGACY_ANONYMOUS=open: whoever reaches this port may write as any participant of a chat',
      );
    const streams = new StreamHub(domain.notifications, this.#logger, isLimited);
    const app = createApp(domain, streams, this.#config, this.#logger, probe, sockets);
    const options = {
      maxHeaderSize: MAX_HEAD,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    };
    const server = createServer(options);
    endAbandoned(server);
    const callbacks = new CallbackGuard(this.#logger);
    const handle = callbacks.wrap(
      'request',
      (_, [req]) => (req as IncomingMessage).socket.destroy(),
      refuseFraming(shedLoad(domain.overload, this.#config, app.callback())),
    );
    const connections = new Connections(server, handle, {
      stalledMs,
      answerMs,
      // A proxy has one address for all of its clients, and counts them.
      perAddress: isLimited && this.#config.TRUST_PROXY === 0 ? HTTP_CONNECTIONS : Number.POSITIVE_INFINITY,
      heldBytes: HTTP_HELD_MIB * 1024 ** 2,
      onClosed: (reason) => metrics.connectionsClosed.inc({ reason }),
    });
    const stopWatching = [
      metrics.connections.watch(() => connections.size),
      metrics.unreadBytes.watch(() => connections.heldBytes, { channel: 'answers' }),
    ];
    server.once('close', () => {
      for (const stop of stopWatching) stop();
    });
    const files = new SpareFiles(this.#logger);
    server.on('connection', (socket) => {
      if (files.refuses()) socket.destroy();
    });
    callbacks.server(server);
    this.#running = { server, streams, connections };
    server.listen(HTTP_PORT, HOST);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw new Error(portFault('HTTP_PORT', HOST, HTTP_PORT, error as NodeJS.ErrnoException));
    }
    server.on('error', (error) => files.acceptFailed(error));
    return (server.address() as AddressInfo).port;
  }

  /** Accepts no new connections, ends the event streams and lets running requests finish. */
  async drain(): Promise<void> {
    if (!this.#running) return;
    const { server, streams, connections } = this.#running;
    const closed = new Promise<void>((resolve) => stopAccepting(server, resolve));
    connections.startDraining();
    // With several processes, idle connections stay open for as long as they are held otherwise: a client's next
    // answer closes its connection, or the client does. A single process has none to hand over to.
    const { SHUTDOWN_TIMEOUT_MS: stopMs, DRAIN_WINDOW_MS, REDIS_URL, KEEP_ALIVE_MS } = this.#config;
    const several = REDIS_URL !== undefined;
    const idleMs = several ? Math.min(KEEP_ALIVE_MS, stopMs * IDLE_SHARE) : 0;
    const windowMs = several ? DRAIN_WINDOW_MS : 0;
    const closedMs = Math.min(Math.max(idleMs, windowMs) + FINISH_MS, stopMs * CLOSED_SHARE);
    const timers = [
      setTimeout(() => connections.closeIdle(), idleMs),
      setTimeout(() => server.closeAllConnections(), closedMs),
    ];
    await Promise.all([streams.close(windowMs), closed]);
    timers.forEach(clearTimeout);
  }
}
