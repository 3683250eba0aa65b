import { loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { stopOnSignals } from '../../domain/platform/shutdown.js';
import { startEmbeddedMongo } from '../../scripts/embedded-mongo/server.js';
import { runService } from '../../scripts/run-service.js';

/**
 * A whole service in a process of its own, with the settings of its environment: what
 * test/support/service-process.ts starts. It lives as long as its parent is connected.
 */
const config = loadConfig(process.env, process.env.DATA_DIR);
const logger = createLogger(config.LOG_LEVEL, 'service under test');
const own = config.MONGODB_URI ? undefined : await startEmbeddedMongo({ storage: 'memory' });
const uri = config.MONGODB_URI ?? own?.uri ?? '';
const { domain, httpPort, gatewayPort, shutdown } = await runService(config, logger, uri);
stopOnSignals(shutdown, logger, () => {});

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
process.on('disconnect', () => process.exit(0));
process.send?.({ httpPort, gatewayPort, authorNo: author.no, saleNo });
