import { createLogger } from '../../domain/platform/observe/logger.js';
import { withDomain } from '../../scripts/command/with-domain.js';
import { addSampleData } from '../../scripts/sample-data/add-sample-data.js';

/** Fills the database of MONGODB_URI with the sample data. */
await withDomain('seed', (domain) => addSampleData(domain, createLogger('error', 'seed')));
