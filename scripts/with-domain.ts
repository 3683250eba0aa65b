import { createDomain, type Domain } from '../domain/domain.js';
import { noLive } from '../domain/kernel/live.js';
import { loadConfig } from '../domain/platform/config.js';
import { createLogger } from '../domain/platform/logger.js';
import { connectMongo, disconnectMongo, ensureIndexes } from '../domain/platform/mongo/connection.js';
import { openDatabase } from './database.js';

/**
 * Runs a command's work on the domain, over the configured database: beside a running service where
 * there is one, else with the embedded database started for the occasion.
 *
 * @param name the command, in the log
 * @returns what the work returns, the exit status
 */
export async function withDomain(name: string, work: (domain: Domain) => Promise<number>): Promise<number> {
  const config = loadConfig();
  const logger = createLogger(config.LOG_LEVEL, name);
  const database = await openDatabase(config);
  try {
    await connectMongo(database.uri);
    await ensureIndexes(database.uri);
    const domain = await createDomain({ config, logger, live: noLive });
    try {
      return await work(domain);
    } finally {
      await domain.close();
    }
  } finally {
    await disconnectMongo();
    await database.close();
  }
}
