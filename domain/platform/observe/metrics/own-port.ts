import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { challengeOf } from '../../../kernel/challenge.js';
import { AppError } from '../../../kernel/errors.js';
import { CallbackGuard } from '../../process/callback-guard.js';
import { toAppError } from '../../process/failures.js';
import { createOperations, JSON_TYPE } from '../../process/operations.js';
import { portFault } from '../../process/port-faults.js';
import type { Config } from '../../settings/config.js';
import type { Logger } from '../logger.js';
import { metricsPort } from './targets.js';

/** Pause before a port that is taken is tried again, ms. */
const RETRY_MS = 250;

/** Time in which the process before frees it, ms: its drain. Beyond, a line of the log names the port. */
const FREED_MS = 30_000;

/** The operators' calls of this process, on a port that it shares with no other. */
class OwnPort {
  readonly #server: Server;
  readonly #address: { host: string; port: number };
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(server: Server, address: { host: string; port: number }, logger: Logger) {
    this.#server = server;
    this.#address = address;
    this.#logger = logger;
  }

  /** @returns why the port cannot be bound */
  async bind(): Promise<NodeJS.ErrnoException | undefined> {
    const { host, port } = this.#address;
    // A worker of pm2 would share the port of its daemon otherwise.
    this.#server.listen({ host, port, exclusive: true });
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
    // For example EMFILE on accept: unhandled, it would end the process.
    this.#server.on('error', (err) => this.#logger.error({ err }, 'a connection could not be accepted'));
    const { port: bound } = this.#server.address() as AddressInfo;
    this.#logger.info({ host, port: bound }, 'metrics are served');
    return undefined;
  }

  /** Binds the port once the process before frees it. */
  bindLater(since = performance.now(), warned = false): void {
    this.#timer = setTimeout(async () => {
      const error = await this.bind();
      if (!error) return;
      const isLate = performance.now() - since > FREED_MS;
      if (isLate && !warned) {
        const { host, port } = this.#address;
        this.#logger.warn(
          `${portFault('METRICS_PORT', host, port, error)}: no metrics port until it is free`,
        );
      }
      this.bindLater(since, isLate);
    }, RETRY_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/**
 * Serves the operators' calls on METRICS_PORT, under pm2 on the port that belongs to this process's number.
 * There, after a reload, the process before has it until it is drained: the new one serves without until then.
 *
 * @param kind of the process
 * @param probe rejects with the reason why the process cannot serve
 * @returns undefined without METRICS_PORT
 * @throws Error naming a port that cannot be bound
 */
export async function serveOwnPort(
  kind: string,
  config: Config,
  probe: () => Promise<void>,
  logger: Logger,
): Promise<{ close(): void } | undefined> {
  const { HOST: host, METRICS_PORT: base, instance } = config;
  if (base === undefined) return undefined;
  const calls = createOperations(config, probe, 'own');

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const path = (req.url ?? '').split('?')[0] ?? '';
      const call = calls.get(path);
      if (!call) throw new AppError('NOT_FOUND', `no such path: ${path.slice(0, 200)}`);
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        res.setHeader('Allow', 'GET, HEAD');
        throw new AppError('METHOD_NOT_ALLOWED');
      }
      const { type, body } = await call(req.headers.authorization);
      res.setHeader('Content-Type', type).end(body);
    } catch (thrown) {
      const error = toAppError(thrown);
      const { status, body, retryAfterMs } = error;
      if (status === 401) res.setHeader('WWW-Authenticate', challengeOf(error, req.headers.authorization));
      if (retryAfterMs) res.setHeader('Retry-After', Math.ceil(retryAfterMs / 1_000));
      res.writeHead(status, { 'Content-Type': JSON_TYPE }).end(`${JSON.stringify(body)}\n`);
    }
  }

  const port = instance === undefined ? base : metricsPort(base, kind, instance);
  const callbacks = new CallbackGuard(logger);
  const server = createServer(
    callbacks.wrap('request', (_, [req]) => (req as IncomingMessage).socket.destroy(), answer),
  );
  callbacks.server(server);
  const own = new OwnPort(server, { host, port }, logger);
  const error = await own.bind();
  if (error) {
    const isWaiting = instance !== undefined && error.code === 'EADDRINUSE';
    if (!isWaiting) throw new Error(portFault('METRICS_PORT', host, port, error));
    own.bindLater();
  }
  return own;
}
