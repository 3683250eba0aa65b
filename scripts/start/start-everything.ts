import { createLogger } from '../../domain/platform/observe/logger.js';
import { metrics } from '../../domain/platform/observe/metrics.js';
import { Shutdown, stopOnSignals } from '../../domain/platform/process/shutdown.js';
import { equalPorts, loadConfig } from '../../domain/platform/settings/config.js';

/**
 * Starts the whole service and prints its addresses. A signal during the start ends it with status 0: its end releases all
 * that the start has opened by then, as `kill -9` does.
 *
 * @throws Error with a readable message
 */
export async function startEverything(): Promise<void> {
  const config = loadConfig(undefined, undefined, equalPorts);
  const logger = createLogger(config.LOG_LEVEL, 'service', config.production ? 'json' : 'text');
  const shutdown = new Shutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
  stopOnSignals(shutdown, logger, () => metrics.unexpectedErrors.inc());
  // Loading the rest takes most of a start.
  const { serveEverything } = await import('./serve-everything.js');
  await serveEverything(config, logger, shutdown);
}
