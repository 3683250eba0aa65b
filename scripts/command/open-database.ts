import type { Config } from '../../domain/platform/config.js';
import { type OpenedMongo, openEmbeddedMongo, type Watcher } from '../embedded-mongo/open.js';

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
