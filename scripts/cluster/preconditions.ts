import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, ConfigError } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { connectRedis } from '../../domain/platform/redis/connection.js';
import { makeDataFolder } from '../embedded-mongo/data-folder.js';
import { holdOwner } from '../embedded-mongo/lock.js';
import { isRunning } from './manager.js';
import { findOrphans } from './orphans.js';
import type { Places } from './places.js';

/** How long, in ms, Redis has to answer. */
const REDIS_MS = 3_000;

/** Whether a port can be had alone: a gateway would share it with another's without a word. */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw new Error(`HOST: ${host}:${port} cannot be bound: ${(error as Error).message}`);
  }
  server.close();
  await once(server, 'close');
  return true;
}

async function answers(redisUrl: string): Promise<boolean> {
  const redis = connectRedis(redisUrl, createLogger('silent', 'cluster'));
  try {
    return await redis.connected(REDIS_MS);
  } finally {
    await redis.close();
  }
}

/**
 * What must hold before the first process is started, so that a start that cannot succeed leaves
 * nothing behind. (fault 49)
 *
 * @throws ConfigError with one line per setting, or Error naming what is in the way
 */
export async function checkPreconditions(config: Config, places: Places): Promise<void> {
  const { REDIS_URL: redisUrl } = config;
  const faults = (['HTTP_PORT', 'GATEWAY_PORT'] as const)
    .filter((name) => config[name] === 0)
    .map((name) => `${name}: several processes share it, so it must be chosen`);
  if (config.HTTP_PORT === config.GATEWAY_PORT && config.HTTP_PORT > 0) {
    faults.push('GATEWAY_PORT: must not be HTTP_PORT');
  }
  if (!redisUrl) faults.unshift('REDIS_URL: several processes need Redis to hear of each other: set it');
  if (!redisUrl || faults.length > 0) throw new ConfigError(faults);

  if (await isRunning(places)) {
    throw new Error(
      `A cluster of ${places.dataDir} runs already: npm run cluster -- status (or reload, or stop)`,
    );
  }
  const orphans = findOrphans(places);
  if (orphans.length > 0) {
    throw new Error(
      `Processes of a cluster whose pm2 is gone still run (${orphans.join(', ')}): npm run cluster -- stop`,
    );
  }
  for (const name of ['HTTP_PORT', 'GATEWAY_PORT'] as const) {
    if (!(await isFree(config.HOST, config[name])))
      throw new ConfigError([`${name}: ${config.HOST}:${config[name]} is taken`]);
  }
  const owner = config.MONGODB_URI ? undefined : await holdOwner(makeDataFolder(places.dataDir));
  if (owner) {
    await owner.letGo();
    throw new Error(`DATA_DIR: process ${owner.pid} serves its database: is npm start running?`);
  }
  if (!(await answers(redisUrl))) throw new ConfigError(['REDIS_URL: Redis does not answer there']);
}
