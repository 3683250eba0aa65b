/** Runs one of several processes (http/main.ts, gateway/main.ts) on a shared database and Redis. */
import { AppError } from './kernel/errors.js';
import type { Live } from './kernel/live.js';
import { type OpenDomain, openDomain } from './open-domain.js';
import { createLogger, type Logger } from './platform/observe/logger.js';
import { serveOwnPort } from './platform/observe/metrics/own-port.js';
import { metrics, nameProcess } from './platform/observe/metrics.js';
import { startTracing } from './platform/observe/tracing.js';
import { Shutdown, stopOnSignals } from './platform/process/shutdown.js';
import { connectRedis, type RedisConnection } from './platform/redis/connection.js';
import { type Config, ConfigError, loadConfig } from './platform/settings/config.js';

export interface ProcessContext {
  config: Config;
  logger: Logger;
  redis: RedisConnection;
  shutdown: Shutdown;
  /** Opens the domain on the configured database and Redis. */
  open(live: Live): Promise<OpenDomain>;
}

/** Longest wait for Redis at the start, ms. */
const REDIS_WAIT_MS = 3_000;

/** Starts a process, adds the steps of its stop, and returns its probe. */
type Start = (context: ProcessContext) => Promise<OpenDomain['probe']>;

type Shared = Config & { MONGODB_URI: string; REDIS_URL: string };

/** Settings without which several processes would not share their state. (contract, section 1) */
function sharedFaults({ MONGODB_URI, REDIS_URL }: Config): string[] {
  return [
    ...(MONGODB_URI ? [] : ['MONGODB_URI: several processes need one database: set it']),
    ...(REDIS_URL ? [] : ['REDIS_URL: several processes need Redis to communicate: set it']),
  ];
}

async function run(name: 'gateway' | 'http', start: Start): Promise<void> {
  const config = loadConfig(undefined, undefined, sharedFaults);
  const { MONGODB_URI: mongoUri, REDIS_URL: redisUrl } = config as Shared;
  nameProcess(name);
  const logger = createLogger(config.LOG_LEVEL, name, config.production ? 'json' : 'text');
  const shutdown = new Shutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
  stopOnSignals(shutdown, logger, () => metrics.unexpectedErrors.inc());
  const endTracing = await startTracing(name, config, logger);
  const redis = connectRedis(redisUrl, logger, config.REDIS_SIGNING_KEY);
  if (!redis.isSigned) {
    logger.warn(
      'REDIS_SIGNING_KEY is not set: every push of another process costs a read; set the same key for all processes',
    );
  }
  if (!(await redis.connected(REDIS_WAIT_MS))) {
    // Fault 26.
    if (config.REDIS_REQUIRED === 'on') throw new Error(`REDIS_URL: ${redis.fault}`);
    // The process serves what it can, and /readyz fails.
    logger.warn(`${redis.fault}: starting without it`);
  }
  const probe = await start({
    config,
    logger,
    redis,
    shutdown,
    open: (live) =>
      openDomain({
        ...{ config, logger, live, mongoUri, redis, shutdown, bringing: 'nothing' },
        verifies: name === 'http',
      }),
  });
  const own = await serveOwnPort(name, config, probe, logger);
  shutdown.add('metrics', () => own?.close());
  shutdown.add('traces', endTracing);
  // For pm2's wait_ready.
  process.send?.('ready');
}

/**
 * Reads the configuration, starts the process, and stops it in order on SIGTERM and SIGINT. If it cannot
 * start, prints one line per fault and exits with 1.
 *
 * @param name the kind of process, in every log line
 */
export async function runProcess(name: 'gateway' | 'http', start: Start): Promise<void> {
  try {
    await run(name, start);
  } catch (error) {
    const lines =
      error instanceof ConfigError
        ? error.faults
        : error instanceof AppError
          ? error.errors
          : [(error as Error).message];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exit(1);
  }
}
