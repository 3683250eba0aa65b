import { join, resolve } from 'node:path';
import type { Config } from '../../domain/platform/config.js';

/** Longest DATA_DIR, in bytes: a Unix socket in it, `/mongo/owner.1000`, may have a path of 107 (sockaddr_un). */
const MAX_DATA_DIR = 90;

/** Where a cluster keeps what is its own. One DATA_DIR has one cluster. */
export interface Places {
  dataDir: string;
  /** PM2_HOME: this pm2 never meets another one of the same user. */
  home: string;
  /** The socket on which pm2's daemon takes commands. */
  socket: string;
  logs: string;
}

export const pm2Home = (dataDir: string) => join(dataDir, 'pm2');

export const pm2Socket = (home: string) => join(home, 'rpc.sock');

/** @throws Error when the path is too long for the sockets of pm2 and of the embedded database */
export function placesOf({ DATA_DIR }: Config): Places {
  const dataDir = resolve(DATA_DIR);
  if (Buffer.byteLength(dataDir) > MAX_DATA_DIR)
    throw new Error(`DATA_DIR: ${dataDir} is longer than the ${MAX_DATA_DIR} bytes that sockets in it allow`);
  const home = pm2Home(dataDir);
  return { dataDir, home, socket: pm2Socket(home), logs: join(dataDir, 'logs') };
}
