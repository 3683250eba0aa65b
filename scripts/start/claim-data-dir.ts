import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { folderError, makeDataFolder, makePrivate } from 'embedded-mongo/data-folder';
import { holdOwner, takeFolder } from 'embedded-mongo/lock';
import type { Config } from '../../domain/platform/settings/config.js';
import { findOrphans, isRunning, pm2Home } from '../cluster/pm2-home.js';

/** Whose owner is the `npm start` that serves a DATA_DIR. */
const runFolder = (dataDir: string) => join(dataDir, 'run');

/** The id of the `npm start` that serves a DATA_DIR; undefined if none does. */
export async function servingProcess({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): Promise<number | undefined> {
  const folder = runFolder(DATA_DIR);
  const owner = existsSync(folder) ? await holdOwner(folder) : undefined;
  await owner?.release();
  return owner?.pid;
}

/**
 * Makes this process the only service of DATA_DIR's embedded database: without Redis, two services could
 * not notify each other. Commands may still use the database. (contract, section 1)
 *
 * @returns a claim that ends with `release` or with the process
 * @throws Error naming DATA_DIR when another `npm start` or a cluster serves it
 */
export async function claimDataDir({ DATA_DIR }: Config): Promise<{ release(): void }> {
  // First, for its clear errors about the folder.
  makeDataFolder(DATA_DIR);
  const home = pm2Home({ DATA_DIR });
  if ((await isRunning(home)) || findOrphans(home).length > 0)
    throw new Error(`DATA_DIR: a cluster serves ${DATA_DIR}: npm run cluster -- status (or stop)`);
  const folder = runFolder(DATA_DIR);
  try {
    makePrivate(folder);
  } catch (error) {
    throw folderError(folder, error);
  }
  const other = await servingProcess({ DATA_DIR });
  if (other !== undefined)
    throw new Error(`DATA_DIR: process ${other} serves ${DATA_DIR} already: stop it, or choose another`);
  const lock = await takeFolder(folder);
  lock.publish();
  return lock;
}
