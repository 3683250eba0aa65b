import { join } from 'node:path';
import { makeDataFolder } from 'embedded-mongo/data-folder';
import { holdOwner } from 'embedded-mongo/lock';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { connectRedis } from '../../domain/platform/redis/connection.js';
import { type Config, ConfigError, equalPorts } from '../../domain/platform/settings/config.js';
import { openEngine } from '../../gateway/engine/open-engine.js';
import { requirePorts } from '../command/ports.js';
import { checkOwnPorts, plannedProcesses } from './own-ports.js';
import { findOrphans, isRunning, pm2Home } from './pm2-home.js';

/** Longest path of a socket in PM2_HOME, bytes: `sun_path` has 104 on macOS, 108 on Linux, with a final zero. */
const MAX_SOCKET_PATH = 103;

/** Time for Redis to answer, ms. */
const REDIS_MS = 3_000;

/** Prints what the gateways leave in their log. @throws ConfigError if they cannot share their port */
async function checkEngine(config: Config): Promise<void> {
  const { unshared } = await openEngine(config, createLogger('warn', 'cluster'));
  if (unshared && config.GATEWAY_INSTANCES > 1) throw new ConfigError([`GATEWAY_ENGINE: ${unshared}`]);
}

/** @throws ConfigError naming the server if it does not answer */
async function requireRedis(redisUrl: string): Promise<void> {
  const redis = connectRedis(redisUrl, createLogger('silent', 'cluster'));
  try {
    if (!(await redis.connected(REDIS_MS))) throw new ConfigError([`REDIS_URL: ${redis.fault}`]);
  } finally {
    await redis.close();
  }
}

/** What the cluster requires of the settings. (fault 49) */
export function clusterFaults(config: Config): string[] {
  const free = (['HTTP_PORT', 'GATEWAY_PORT', 'METRICS_PORT'] as const).filter((name) => config[name] === 0);
  return [
    ...(config.REDIS_URL ? [] : ['REDIS_URL: must be set, as several processes communicate through Redis']),
    ...free.map((name) => `${name}: several processes have it, so it must not be 0`),
    ...equalPorts(config),
  ];
}

/**
 * Checks everything else a start needs, so that one that cannot succeed starts nothing. (fault 49)
 * @param config without `clusterFaults`
 * @throws ConfigError with one line per setting, or Error naming what prevents the start
 */
export async function checkPreconditions(config: Config): Promise<void> {
  const { REDIS_URL: redisUrl = '', DATA_DIR } = config;
  const home = pm2Home(config);
  if (Buffer.byteLength(join(home, 'rpc.sock')) > MAX_SOCKET_PATH)
    throw new ConfigError([`DATA_DIR: ${DATA_DIR} is too long a path for the sockets in it`]);
  if (await isRunning(home))
    throw new Error(`A cluster of ${DATA_DIR} runs already: npm run cluster -- status (or reload, or stop)`);
  const orphans = findOrphans(home);
  if (orphans.length > 0)
    throw new Error(
      `Processes of a cluster whose pm2 is gone still run (${orphans.join(', ')}): npm run cluster -- stop`,
    );
  // A gateway would share the port with another service's (SO_REUSEPORT).
  await requirePorts(config);
  await checkOwnPorts(config, plannedProcesses(config));
  const owner = config.MONGODB_URI ? undefined : await holdOwner(makeDataFolder(DATA_DIR));
  if (owner) {
    await owner.release();
    throw new Error(`DATA_DIR: process ${owner.pid} serves its database: is npm start running?`);
  }
  await requireRedis(redisUrl);
  // Last, as it may print a warning.
  await checkEngine(config);
}
