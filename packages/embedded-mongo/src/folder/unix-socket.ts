import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
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
      `socket: ${path} is longer than the ${MAX_BYTES} bytes that the path of a socket may have: ` +
        'choose a shorter one, or name it relative to the working folder',
    );
  return fitting;
}

/**
 * Connects to the process that listens on a path; undefined if there is none. Rejects if that cannot be
 * determined, as for another user's socket.
 */
export async function connectTo(path: string): Promise<Socket | undefined> {
  const socket = connect(socketPath(path));
  // After the connection is made, 'close' follows.
  socket.on('error', () => {});
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ECONNRESET: it stopped listening before it accepted.
    if (code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'ECONNRESET') return undefined;
    throw error;
  }
}
