import { connect, type Server, type Socket } from 'node:net';
import { relative } from 'node:path';

/** Longest path of a Unix socket, bytes: `sun_path`, 108 on Linux and 104 on macOS, less the final zero. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * The path of a socket, relative to the working directory if the absolute one is too long.
 * @throws Error if both are longer than the system allows
 */
export function socketPath(path: string): string {
  const fitting = [path, relative(process.cwd(), path)].find((name) => Buffer.byteLength(name) <= MAX_BYTES);
  if (fitting === undefined)
    throw new Error(
      `DATA_DIR: ${path} is longer than the ${MAX_BYTES} bytes that the path of a socket may have: ` +
        'choose a shorter one, or name it relative to the working folder',
    );
  return fitting;
}

/** Listens on a path that does not exist yet. */
export function listenOn(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath(path), resolve);
  });
}

/**
 * Connects to the process that listens on a path; undefined if there is none. Rejects if that cannot be
 * determined, as for another user's socket.
 */
export function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath(path));
    socket.once('connect', () => resolve(socket));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(undefined);
      else reject(error);
    });
  });
}
