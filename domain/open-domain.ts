/** Opens the domain on a database: for processes, commands and tests. */
import { highestSentAt } from './chat/index.js';
import { createDomain, type Domain, type DomainOptions } from './domain.js';
import { AppError } from './kernel/errors.js';
import { cachedFor } from './platform/async/shared-runs.js';
import { connectMongo, disconnectMongo, pingMongo } from './platform/mongo/connection.js';
import { openDataClock } from './platform/mongo/data-clock.js';
import { type Bringing, prepareDatabase } from './platform/mongo/migrate.js';
import { watchMongo } from './platform/mongo/watch.js';
import { showReadiness } from './platform/observe/metrics.js';
import { OVERLOADED } from './platform/process/overload.js';
import type { Shutdown } from './platform/process/shutdown.js';

export interface OpenDomainOptions extends Omit<DomainOptions, 'clock'> {
  mongoUri: string;
  shutdown: Shutdown;
  /** Whether this process takes its turn at comparing stored values with their records (VERIFY_EVERY). */
  verifies: boolean;
  /** What to do about data of an older version. */
  bringing: Bringing;
  /**
   * Runs before the domain starts: a single process opens its ports, then stores sample data. Until it has ended,
   * `probe` rejects.
   */
  prepare?: ((domain: Domain, probe: () => Promise<void>) => Promise<void>) | undefined;
}

/**
 * Connects to the database, ensures its version and indexes, creates the domain and starts it.
 * @throws Error naming what is missing, after closing all connections, that to Redis included
 */
export async function openDomain({
  mongoUri,
  shutdown,
  verifies,
  bringing,
  prepare,
  ...options
}: OpenDomainOptions) {
  const { redis } = options;

  async function disconnect(): Promise<void> {
    await redis?.close();
    await disconnectMongo();
  }

  try {
    await connectMongo(mongoUri);
    await prepareDatabase(mongoUri, bringing, (text) => options.logger.info(text));
    await openDataClock(highestSentAt);
    const stopWatchingMongo = watchMongo(options.logger);
    const domain = await createDomain(options);
    // Nothing limits how often it is asked for.
    const ping = cachedFor(1_000, () => Promise.all([pingMongo(), redis?.ping()]));
    let isStarting = true;
    /** Rejects with the reason for not being ready. (contract, section 1: /readyz) */
    async function probe(): Promise<void> {
      if (shutdown.draining) throw new AppError('SERVICE_UNAVAILABLE', 'this process is shutting down');
      if (isStarting) throw new AppError('SERVICE_UNAVAILABLE', 'this process is starting');
      if (domain.overload.isLasting) {
        throw new AppError('SERVICE_UNAVAILABLE', OVERLOADED);
      }
      await ping();
    }
    showReadiness(probe);
    try {
      await prepare?.(domain, probe);
      await domain.start(verifies);
    } catch (error) {
      await domain.close();
      throw error;
    }
    const stopWatching = options.config.LOAD_SHEDDING === 'on' ? domain.overload.watch() : undefined;
    isStarting = false;
    return {
      domain,
      probe,
      /** Closes the domain, then the connections to Redis and the database. */
      async close(): Promise<void> {
        stopWatching?.();
        await domain.close();
        stopWatchingMongo();
        await disconnect();
      },
    };
  } catch (error) {
    await disconnect();
    throw error;
  }
}

export type OpenDomain = Awaited<ReturnType<typeof openDomain>>;
