import { type OpenedMongo, openEmbeddedMongo, type Watcher } from 'embedded-mongo';
import { holdsDatabase } from 'embedded-mongo/data-folder';
import type { Config } from '../../domain/platform/settings/config.js';

/** The service's database in the embedded one. */
export const DATABASE = 'adoption';

/**
 * Opens the configured MongoDB, or the embedded database of DATA_DIR, which is started unless another process
 * uses it already, and ends with its last user.
 *
 * @param watcher if given, an embedded database that is lost is restarted
 */
export async function openDatabase(config: Config, watcher?: Watcher): Promise<OpenedMongo> {
  if (config.MONGODB_URI) return { uri: config.MONGODB_URI, close: async () => {} };
  return openEmbeddedMongo(config.DATA_DIR, { database: DATABASE, watcher });
}

/**
 * For a command that changes or reads what is there: opening an embedded database that is missing creates it.
 * @throws Error that names DATA_DIR if the embedded database is missing
 */
export function requireDatabase({ MONGODB_URI, DATA_DIR }: Config): void {
  if (!MONGODB_URI && !holdsDatabase(DATA_DIR)) throw new Error(`DATA_DIR: ${DATA_DIR} holds no database`);
}
