import type { Live } from './kernel/live.js';
import { type OpenDomain, openDomain } from './open-domain.js';
import { type Config, ConfigError, loadConfig } from './platform/config.js';
import { createLogger, type Logger } from './platform/logger.js';
import { metrics } from './platform/metrics.js';
import { connectRedis, type RedisConnection } from './platform/redis/connection.js';
import { createShutdown, type Shutdown, stopOnSignals } from './platform/shutdown.js';

/** What one process of several starts from. */
export interface ProcessContext {
  config: Config;
  logger: Logger;
  redis: RedisConnection;
  shutdown: Shutdown;
  /** Opens the domain with this port to sockets. */
  open(live: Live): Promise<OpenDomain>;
}

/** Time, in ms, a process waits for Redis at its start before it serves without. */
const REDIS_WAIT_MS = 3_000;

/** What several processes must share, or each would tell a story of its own. (contract, section 1) */
function sharedFaults({ MONGODB_URI, REDIS_URL }: Config): string[] {
  return [
    ...(MONGODB_URI ? [] : ['MONGODB_URI: several processes need one database: set it']),
    ...(REDIS_URL ? [] : ['REDIS_URL: several processes need Redis to hear of each other: set it']),
  ];
}

async function run(name: string, start: (context: ProcessContext) => Promise<void>): Promise<void> {
  const config = loadConfig();
  const faults = sharedFaults(config);
  const { MONGODB_URI: mongoUri, REDIS_URL: redisUrl } = config;
  if (!mongoUri || !redisUrl) throw new ConfigError(faults);
  const logger = createLogger(config.LOG_LEVEL, name);
  const shutdown = createShutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
  stopOnSignals(shutdown, logger, () => metrics.unexpectedErrors.inc());
  const redis = connectRedis(redisUrl, logger);
  // A start without Redis is a degraded one, not a failed one: it serves what it can, and /readyz tells.
  if (!(await redis.connected(REDIS_WAIT_MS))) logger.warn('Redis does not answer: starting without');
  await start({
    config,
    logger,
    redis,
    shutdown,
    open: (live) => openDomain({ config, logger, live, mongoUri, redis, shutdown }),
  });
  // A process manager that waits for it (pm2's wait_ready) is told.
  process.send?.('ready');
}

/**
 * Runs one process of several over a shared database and Redis: reads the configuration, stops in
 * order on SIGTERM and SIGINT, and ends with one line per fault where it cannot start.
 *
 * @param name the kind of process, in every log line
 * @param start brings it up and adds the steps of its stop
 */
export async function runProcess(
  name: string,
  start: (context: ProcessContext) => Promise<void>,
): Promise<void> {
  try {
    await run(name, start);
  } catch (error) {
    const lines = error instanceof ConfigError ? error.faults : [(error as Error).message];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exit(1);
  }
}
