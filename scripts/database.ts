import type { Config } from '../domain/platform/config.js';
import { openEmbeddedMongo } from './embedded-mongo/open.js';

export interface OpenDatabase {
  uri: string;
  /** Lets go of it; an embedded database that this process started is stopped. */
  close(): Promise<void>;
}

/**
 * The database of this configuration: the configured MongoDB, or the embedded one of DATA_DIR, which
 * is started unless a running service has it open already.
 */
export async function openDatabase(config: Config): Promise<OpenDatabase> {
  if (config.MONGODB_URI) return { uri: config.MONGODB_URI, close: async () => {} };
  return openEmbeddedMongo(config.DATA_DIR);
}
