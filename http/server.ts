import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Domain } from '../domain/domain.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import { metrics } from '../domain/platform/metrics.js';
import { createApp } from './app.js';
import { type Connections, trackConnections } from './connections.js';
import type { SocketDescription } from './docs/asyncapi.js';
import { createStreamHub, type StreamHub } from './sse/stream-hub.js';

/** Time, in ms, a client may take to send its headers, and its whole request: slow ones hold nothing up. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Largest head of a request, in bytes; a larger one is answered 431. A token (8 kB) may be in it twice, in the
 * Authorization header and in the cookie, and a `Last-Event-ID` of any form beside it: node's own 16 KiB are few.
 */
const MAX_HEAD = 32 * 1024;

/** How long, in ms, a connection without a request is kept, as clients are told (`Keep-Alive: timeout=5`). */
const KEEP_ALIVE_MS = 5_000;

/** Time, in ms, that it is kept beyond that, for the request sent in the last moment. Node does the same. */
const KEEP_ALIVE_SLACK_MS = 1_000;

/**
 * Time, in ms, in which a client has to take some of its answers or event stream; its connection is destroyed
 * otherwise. Longer than a phone is out of reach in a tunnel, most times.
 */
const STALLED_MS = 30_000;

/** Time, in ms, running requests have to finish in a stop once connections without one are closed. */
const FINISH_MS = 3_000;

/** Parts of SHUTDOWN_TIMEOUT_MS, where that is short: for idle connections, until all are closed; the rest is for the domain. */
const IDLE_PART = 0.6;
const CLOSED_PART = 0.9;

export interface HttpServer {
  /**
   * Starts serving.
   * @param probe rejects with what stands in the way of serving
   * @param sockets what the documents and the demo page tell of the gateway
   * @returns the port
   * @throws Error when the port is taken
   */
  listen(domain: Domain, probe: () => Promise<void>, sockets: SocketDescription): Promise<number>;
  /** Takes no new connections, ends the event streams and lets running requests finish. */
  drain(): Promise<void>;
}

/**
 * The REST and event-stream server.
 * @param stalledMs time in which a client has to take some of what it is sent
 */
export function createHttpServer(config: Config, logger: Logger, stalledMs = STALLED_MS): HttpServer {
  let server: Server | undefined;
  let streams: StreamHub | undefined;
  let connections: Connections | undefined;

  return {
    async listen(domain, probe, sockets) {
      if (config.LEGACY_ANONYMOUS === 'open')
        logger.warn(
          'LEGACY_ANONYMOUS=open: whoever reaches this port may write as any participant of a chat',
        );
      const hub = createStreamHub(domain.notifications, logger);
      const app = createApp(domain, hub, config, logger, probe, sockets);
      const created = createServer(
        {
          maxHeaderSize: MAX_HEAD,
          headersTimeout: HEADERS_TIMEOUT_MS,
          requestTimeout: REQUEST_TIMEOUT_MS,
          keepAliveTimeout: KEEP_ALIVE_MS,
        },
        app.callback(),
      );
      connections = trackConnections(created, {
        stalledMs,
        onStalled: () => metrics.connectionsStalled.inc(),
      });
      streams = hub;
      server = created;
      return new Promise<number>((resolve, reject) => {
        created.once('error', (error: NodeJS.ErrnoException) => {
          reject(
            error.code === 'EADDRINUSE'
              ? new Error(`HTTP_PORT: ${config.HOST}:${config.HTTP_PORT} is taken`)
              : error,
          );
        });
        created.listen(config.HTTP_PORT, config.HOST, () => {
          resolve((created.address() as AddressInfo).port);
        });
      });
    },

    async drain() {
      if (!server) return;
      const several = config.REDIS_URL !== undefined;
      const closed = new Promise<void>((resolve) => {
        // Not http's own `close`: it resets idle connections, and with them the request on its way.
        NetServer.prototype.close.call(server, () => resolve());
      });
      connections?.letGo();
      // Where another process takes over, a client uses its connection once more and is told to leave it,
      // or leaves it in the time it was promised. Alone, there is nobody else to come to.
      const { SHUTDOWN_TIMEOUT_MS: stopMs, DRAIN_WINDOW_MS } = config;
      const idleMs = several ? Math.min(KEEP_ALIVE_MS + KEEP_ALIVE_SLACK_MS, stopMs * IDLE_PART) : 0;
      const windowMs = several ? DRAIN_WINDOW_MS : 0;
      const closedMs = Math.min(Math.max(idleMs, windowMs) + FINISH_MS, stopMs * CLOSED_PART);
      const timers = [
        setTimeout(() => connections?.closeIdle(), idleMs),
        setTimeout(() => server?.closeAllConnections(), closedMs),
      ];
      await Promise.all([streams?.close(windowMs), closed]);
      timers.forEach(clearTimeout);
    },
  };
}
