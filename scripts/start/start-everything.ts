import { equalPorts, loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { metrics } from '../../domain/platform/metrics.js';
import { type Shutdown, stopOnSignals } from '../../domain/platform/shutdown.js';
import { openDatabase } from '../command/open-database.js';
import { requirePorts } from '../command/ports.js';
import type { OpenedMongo } from '../embedded-mongo/open.js';
import { addSampleData } from '../sample-data/add-sample-data.js';
import { claimDataDir } from './claim-data-dir.js';
import { runService } from './run-service.js';
import { welcome } from './welcome.js';

/** Ends a service that has lost its database, with status 1: in order if it serves already, else at once. */
function endWithoutDatabase(running: Shutdown | undefined): void {
  if (!running) process.exit(1);
  else if (!running.draining) void running.begin('no database').then(() => process.exit(1));
}

/** Starts the whole service and prints its addresses. @throws Error with a readable message */
export async function startEverything(): Promise<void> {
  const config = loadConfig(undefined, undefined, equalPorts);
  const logger = createLogger(config.LOG_LEVEL, 'service', config.production ? 'json' : 'text');
  const claim = config.MONGODB_URI ? undefined : await claimDataDir(config);
  let running: Shutdown | undefined;
  const watcher = {
    onLost: () => logger.warn('the embedded database is gone: starting it again'),
    onBack: () => logger.info('the embedded database serves again'),
    onGone(error: Error) {
      logger.fatal({ err: error }, 'the embedded database cannot be started again');
      endWithoutDatabase(running);
    },
  };
  let database: OpenedMongo | undefined;
  try {
    await requirePorts(config, ['HTTP_PORT', 'GATEWAY_PORT', 'METRICS_PORT']);
    const opened = await openDatabase(config, watcher);
    database = opened;
    const service = await runService(
      config,
      logger,
      opened.uri,
      config.DEMO ? (domain) => addSampleData(domain, logger) : undefined,
    );
    running = service.shutdown;
    running.add('embedded database', () => opened.close());
    running.add('DATA_DIR', async () => claim?.release());
    stopOnSignals(running, logger, () => metrics.unexpectedErrors.inc());
    process.stdout.write(await welcome(config, service, 'Try:', 'Ctrl-C stops it.'));
  } catch (error) {
    await database?.close();
    claim?.release();
    throw error;
  }
}
