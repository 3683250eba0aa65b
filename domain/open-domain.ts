/** Opens the domain on a database: for processes, commands and tests. */
import { createDomain, type Domain, type DomainOptions } from './domain.js';
import { AppError } from './kernel/errors.js';
import { showReadiness } from './platform/metrics.js';
import { connectMongo, disconnectMongo, ensureIndexes, pingMongo } from './platform/mongo/connection.js';
import { cachedFor } from './platform/shared-runs.js';
import type { Shutdown } from './platform/shutdown.js';

export interface OpenDomainOptions extends Omit<DomainOptions, 'clock'> {
  mongoUri: string;
  shutdown: Shutdown;
  /** Runs before the sweeps start and before anything is served: sample data. */
  prepare?: ((domain: Domain) => Promise<void>) | undefined;
}

/**
 * Connects to the database, ensures its indexes, creates the domain and starts its sweeps.
 * @throws Error naming what is missing, after closing all connections, that to Redis included
 */
export async function openDomain({ mongoUri, shutdown, prepare, ...options }: OpenDomainOptions) {
  const { redis } = options;

  async function disconnect(): Promise<void> {
    await redis?.close();
    await disconnectMongo();
  }

  try {
    await connectMongo(mongoUri);
    await ensureIndexes(mongoUri);
    const domain = await createDomain(options);
    await prepare?.(domain);
    await domain.startSweeps();
    const stopWatching = options.config.LOAD_SHEDDING === 'on' ? domain.overload.watch() : undefined;
    // Nothing limits how often it is asked for.
    const ping = cachedFor(1_000, () => Promise.all([pingMongo(), redis?.ping()]));

    async function probe(): Promise<void> {
      if (shutdown.draining) throw new AppError('SERVICE_UNAVAILABLE', 'this process is going');
      if (domain.overload.isLasting) {
        throw new AppError('SERVICE_UNAVAILABLE', 'this process is overloaded');
      }
      await ping();
    }

    showReadiness(probe);
    return {
      domain,
      /** Rejects with the reason for not being ready. (contract, section 1: /readyz) */
      probe,
      /** Closes the domain, then the connections to Redis and the database. */
      async close(): Promise<void> {
        stopWatching?.();
        await domain.close();
        await disconnect();
      },
    };
  } catch (error) {
    await disconnect();
    throw error;
  }
}

export type OpenDomain = Awaited<ReturnType<typeof openDomain>>;
