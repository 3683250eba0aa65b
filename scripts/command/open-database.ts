import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../domain/platform/settings/config.js';
import { folderError } from '../embedded-mongo/folder/data-folder.js';
import { type OpenedMongo, openEmbeddedMongo, type Watcher } from '../embedded-mongo/open.js';
import { STORE_FILE } from '../embedded-mongo/storage/unfinished-store.js';

/**
 * Opens the configured MongoDB, or the embedded database of DATA_DIR, which is started unless another process
 * uses it already, and ends with its last user.
 *
 * @param watcher if given, an embedded database that is lost is restarted
 */
export async function openDatabase(config: Config, watcher?: Watcher): Promise<OpenedMongo> {
  if (config.MONGODB_URI) return { uri: config.MONGODB_URI, close: async () => {} };
  return openEmbeddedMongo(config.DATA_DIR, watcher);
}

/**
 * For a command that changes or reads what is there: opening an embedded database that is missing creates it.
 * @throws Error that names DATA_DIR if the embedded database is missing
 */
export function requireDatabase({ MONGODB_URI, DATA_DIR }: Config): void {
  if (MONGODB_URI) return;
  try {
    statSync(join(DATA_DIR, 'mongo', STORE_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw folderError(DATA_DIR, error);
    throw new Error(`DATA_DIR: ${DATA_DIR} holds no database`);
  }
}
