import { createDomain, type Domain } from './domain.js';
import { AppError } from './kernel/errors.js';
import type { Live } from './kernel/live.js';
import type { Config } from './platform/config.js';
import type { Logger } from './platform/logger.js';
import { connectMongo, disconnectMongo, ensureIndexes, pingMongo } from './platform/mongo/connection.js';
import type { RedisConnection } from './platform/redis/connection.js';
import type { Shutdown } from './platform/shutdown.js';

/** The domain over an open database, and what a process has to know about both. */
export interface OpenDomain {
  domain: Domain;
  /** Rejects with what stands in the way of serving. (contract, section 1: /readyz) */
  probe(): Promise<void>;
  /** Ends the domain, then lets go of Redis and the database. */
  close(): Promise<void>;
}

export interface OpenDomainOptions {
  config: Config;
  logger: Logger;
  live: Live;
  mongoUri: string;
  /** Without it, this process is alone. */
  redis?: RedisConnection | undefined;
  shutdown: Shutdown;
  /** Runs before the sweeps start and before anything is served: sample data. */
  prepare?: ((domain: Domain) => Promise<void>) | undefined;
}

/**
 * Connects to the database, makes sure of its indexes, puts the domain together and starts its sweeps.
 * @throws Error naming what is missing; nothing is left open then
 */
export async function openDomain(options: OpenDomainOptions): Promise<OpenDomain> {
  const { config, logger, live, mongoUri, redis, shutdown, prepare } = options;

  async function letGo(): Promise<void> {
    await redis?.close();
    await disconnectMongo();
  }

  try {
    await connectMongo(mongoUri);
    await ensureIndexes(mongoUri);
    const domain = await createDomain({ config, logger, live, ...(redis ? { redis } : {}) });
    await prepare?.(domain);
    await domain.startSweeps();
    return {
      domain,
      async probe() {
        if (shutdown.draining) throw new AppError('SERVICE_UNAVAILABLE', 'this process is going');
        await Promise.all([pingMongo(), redis?.ping()]);
      },
      async close() {
        await domain.close();
        await letGo();
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }
}
