import { createDomain, type Domain } from '../../domain/domain.js';
import { noLive } from '../../domain/kernel/live.js';
import { connectMongo, disconnectMongo } from '../../domain/platform/mongo/connection.js';
import { prepareDatabase, requireReadable } from '../../domain/platform/mongo/migrate.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import { loadConfig } from '../../domain/platform/settings/config.js';
import { openDatabase, requireDatabase } from './open-database.js';

/**
 * Runs a command's work on the domain with the configured database, which a running service may be using. An
 * embedded database that does not run is started for the command.
 *
 * @param name the command's name in the log
 * @param creates whether an embedded database that is missing is created, instead of being refused
 * @param access `reads` refuses data of an older version, which an embedded database is brought up from otherwise; `repairs`
 *   also builds unique indexes that are missing beside records, instead of refusing
 * @returns what `work` resolves to
 */
export async function withDomain<T>(
  name: string,
  work: (domain: Domain) => Promise<T>,
  { creates = false, access = 'writes' }: { creates?: boolean; access?: 'reads' | 'writes' | 'repairs' } = {},
): Promise<T> {
  const config = loadConfig();
  if (!creates) requireDatabase(config);
  const logger = createLogger(config.LOG_LEVEL, name, config.production ? 'json' : 'text');
  const database = await openDatabase(config);
  try {
    await connectMongo(database.uri);
    if (access === 'reads') await requireReadable(database.uri);
    else {
      // A service of the release before may be using the embedded database.
      const bringing = config.MONGODB_URI ? 'nothing' : 'prepare';
      await prepareDatabase(database.uri, bringing, (text) => logger.info(text), access === 'repairs');
    }
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
