import type { OpenedMongo } from 'embedded-mongo';
import type { Domain } from '../../domain/domain.js';
import type { Logger } from '../../domain/platform/observe/logger.js';
import type { Shutdown } from '../../domain/platform/process/shutdown.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { openDatabase } from '../command/open-database.js';
import { requirePorts } from '../command/ports.js';
import { addSampleData } from '../sample-data/add-sample-data.js';
import { claimDataDir } from './claim-data-dir.js';
import { runService } from './run-service.js';
import { welcome } from './welcome.js';

/**
 * Adds the sample data. If that fails, as on a full disk, the service goes on: its ports are already open, and it has
 * perhaps acknowledged what others sent.
 */
async function tryToAddSampleData(domain: Domain, logger: Logger): Promise<void> {
  await addSampleData(domain, logger).catch((error) =>
    logger.error({ err: error }, 'the sample data are incomplete: the next start continues with them'),
  );
}

/**
 * Opens the data and the ports, serves, and prints the addresses.
 * @param shutdown gets the steps of its stop once it serves
 * @throws Error with a readable message, after releasing the data
 */
export async function serveEverything(config: Config, logger: Logger, shutdown: Shutdown): Promise<void> {
  const claim = config.MONGODB_URI ? undefined : await claimDataDir(config);
  const watcher = {
    onLost: () => logger.warn('the embedded database is gone: starting it again'),
    onBack: () => logger.info('the embedded database serves again'),
    onGone(error: Error) {
      logger.fatal({ err: error }, 'the embedded database cannot be started again');
      if (!shutdown.draining) void shutdown.begin('no database').then(() => process.exit(1));
    },
  };
  let database: OpenedMongo | undefined;
  try {
    await requirePorts(config, ['HTTP_PORT', 'GATEWAY_PORT', 'METRICS_PORT']);
    const opened = await openDatabase(config, watcher);
    database = opened;
    const prepare = config.DEMO ? (domain: Domain) => tryToAddSampleData(domain, logger) : undefined;
    const service = await runService(config, logger, opened.uri, shutdown, prepare);
    shutdown.add('embedded database', () => opened.close());
    shutdown.add('DATA_DIR', async () => claim?.release());
    process.stdout.write(await welcome(config, service, 'Try:', 'Ctrl-C stops it.'));
  } catch (error) {
    await database?.close();
    claim?.release();
    throw error;
  }
}
