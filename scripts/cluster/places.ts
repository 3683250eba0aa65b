import { join, resolve } from 'node:path';
import type { Config } from '../../domain/platform/config.js';

/** Longest path of a Unix socket, in bytes (sockaddr_un, less its final zero). */
const MAX_SOCKET_PATH = 107;

/** Where a cluster keeps what is its own. One DATA_DIR has one cluster. */
export interface Places {
  dataDir: string;
  /** PM2_HOME: this pm2 never meets another one of the same user. */
  home: string;
  /** The socket on which pm2's daemon takes commands. */
  socket: string;
  logs: string;
}

/** @throws Error when the path is too long for pm2's sockets */
export function placesOf({ DATA_DIR }: Config): Places {
  const dataDir = resolve(DATA_DIR);
  const home = join(dataDir, 'pm2');
  const socket = join(home, 'rpc.sock');
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    throw new Error(`DATA_DIR: ${dataDir} is too long a path for the sockets of pm2`);
  }
  return { dataDir, home, socket, logs: join(dataDir, 'logs') };
}
