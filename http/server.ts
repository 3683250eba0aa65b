import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Domain } from '../domain/domain.js';
import type { Config } from '../domain/platform/config.js';
import type { Logger } from '../domain/platform/logger.js';
import { createApp } from './app.js';
import type { SocketDescription } from './docs/asyncapi.js';
import { trackKeptAlive } from './kept-alive.js';
import { createStreamHub, type StreamHub } from './sse/stream-hub.js';

/** Time, in ms, a client may take to send its headers, and its whole request: slow ones hold nothing up. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Time, in ms, running requests have to finish in a stop. */
const FINISH_MS = 5_000;

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

/** The REST and event-stream server. */
export function createHttpServer(config: Config, logger: Logger): HttpServer {
  let server: Server | undefined;
  let streams: StreamHub | undefined;
  let closeKeptAlive = () => {};

  return {
    async listen(domain, probe, sockets) {
      const hub = createStreamHub(domain.notifications, logger);
      const app = createApp(domain, hub, config, logger, probe, sockets);
      const created = createServer(
        { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
        app.callback(),
      );
      closeKeptAlive = trackKeptAlive(created);
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
      const ended = new Promise<void>((resolve) => {
        server?.close(() => resolve());
      });
      closeKeptAlive();
      await streams?.close(config.REDIS_URL ? config.DRAIN_WINDOW_MS : 0);
      const late = setTimeout(() => server?.closeAllConnections(), FINISH_MS);
      await ended;
      clearTimeout(late);
    },
  };
}
