import { createDomain } from '../../domain/domain.js';
import { noLive } from '../../domain/kernel/live.js';
import { loadConfig } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { connectMongo, disconnectMongo, ensureIndexes } from '../../domain/platform/mongo/connection.js';
import { addSampleData } from '../../scripts/sample-data/add-sample-data.js';

/** Fills the database of MONGODB_URI with the sample data. */
const config = loadConfig();
const logger = createLogger(config.LOG_LEVEL, 'seed');
const uri = config.MONGODB_URI ?? '';
await connectMongo(uri);
await ensureIndexes(uri);
const domain = await createDomain({ config, logger, live: noLive });
await addSampleData(domain, logger);
await domain.close();
await disconnectMongo();
