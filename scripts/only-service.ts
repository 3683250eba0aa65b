import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../domain/platform/config.js';
import { isRunning } from './cluster/manager.js';
import { findOrphans } from './cluster/orphans.js';
import { pm2Home, pm2Socket } from './cluster/places.js';
import { folderError, makeDataFolder } from './embedded-mongo/folder/data-folder.js';
import { holdOwner, takeFolder } from './embedded-mongo/folder/lock.js';

/** A service without Redis hears of no other process, so the data of one is served by it alone. */
export interface Seat {
  release(): void;
}

/**
 * Makes this process the only service of DATA_DIR's embedded database. Commands may still use that database.
 * (contract, section 1: more than one process without Redis refuses to start)
 *
 * @throws Error naming DATA_DIR when another `npm start` or a cluster serves it
 */
export async function takeSeat({ DATA_DIR }: Config): Promise<Seat> {
  // Names what is wrong with the folder before anything else is made in it.
  makeDataFolder(DATA_DIR);
  const home = pm2Home(resolve(DATA_DIR));
  if ((await isRunning({ socket: pm2Socket(home) })) || findOrphans({ home }).length > 0)
    throw new Error(`DATA_DIR: a cluster serves ${DATA_DIR}: npm run cluster -- status (or stop)`);
  const folder = join(DATA_DIR, 'run');
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw folderError(folder, error);
  }
  const other = await holdOwner(folder);
  if (other) {
    await other.release();
    throw new Error(`DATA_DIR: process ${other.pid} serves ${DATA_DIR} already: stop it, or choose another`);
  }
  const lock = await takeFolder(folder);
  lock.publish();
  return lock;
}
