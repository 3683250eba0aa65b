import { connect } from 'node:net';

/** How long, in ms, we wait for more; a server may wait longer for the rest of a request that has none. */
const PATIENCE_MS = 2_000;

/**
 * Sends bytes as they are over a connection of their own and resolves to all that came back, once the
 * other side has closed, `until` fits what has come so far, or nothing more comes.
 */
export function rawRequest(base: string, bytes: string | Buffer, until?: RegExp): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk;
      if (until?.test(text)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The other side may close with some of our bytes unread.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(text);
      else reject(error);
    });
    socket.on('close', () => resolve(text));
  });
}
