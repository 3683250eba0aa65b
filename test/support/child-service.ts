import { startEmbeddedMongo } from 'embedded-mongo/server';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { Shutdown, stopOnSignals } from '../../domain/platform/process/shutdown.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { runService } from '../../scripts/start/run-service.js';

/** The program of service-process.ts: a whole service with the settings of its environment. */
const config = loadConfig(process.env, process.env.DATA_DIR);
const logger = createLogger(config.LOG_LEVEL, 'service under test');
const uri = config.MONGODB_URI ?? (await startEmbeddedMongo({ storage: 'memory', database: 'adoption' })).uri;
const shutdown = new Shutdown(logger, config.SHUTDOWN_TIMEOUT_MS);
stopOnSignals(shutdown, logger, () => {});
const { domain, httpPort, gatewayPort } = await runService(config, logger, uri, shutdown);

const author = await domain.members.record({ email: 'author@example.org', issuedAt: 0 });
const saleNo = await domain.adoption.savePost({
  title: 'Bori',
  authorNo: author.no,
  name: 'Bori',
  age: '2',
  kind: 'dog',
  latitude: 37.5,
  longitude: 127,
  thumbnail: '',
});
process.send?.({ httpPort, gatewayPort, mongoUri: uri, authorNo: author.no, saleNo });
