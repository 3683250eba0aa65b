import { connect, type Socket, type SocketConstructorOpts } from 'node:net';

/** Silence, in ms, after which `rawRequest` gives up: a server may wait longer for the rest of a request. */
const SILENCE_MS = 2_000;

/** A TCP connection on which HTTP is written by hand. */
export interface RawConnection {
  socket: Socket;
  /** Everything received. */
  text: string;
  /** Resolves with what was received since the last call, once its last 2,000 characters match. */
  until(expected: RegExp): Promise<string>;
  /** Resolves when the connection is closed. */
  ended: Promise<void>;
  isEnded: boolean;
}

/** A request without a body. @param headers further header lines */
export const rawGet = (path: string, token = '', ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', `Authorization: ${token}`, ...headers, '', ''].join('\r\n');

/** A TCP connection to the host of an address. Its errors are dropped: `close` follows each of them. */
export function openTcp(base: string, options: SocketConstructorOpts = {}): Socket {
  const { hostname, port } = new URL(base);
  return connect({ ...options, port: Number(port), host: hostname }).on('error', () => {});
}

/** @param request sent at once */
export function rawConnection(base: string, request: string | Buffer = ''): RawConnection {
  const socket = openTcp(base);
  if (request.length > 0) socket.write(request);
  let taken = 0;
  /** The end of what was received since: matching a whole large answer with every chunk takes seconds. */
  let recent = '';
  let check = () => {};
  const connection: RawConnection = {
    socket,
    text: '',
    isEnded: false,
    until: (expected) =>
      new Promise((resolve) => {
        check = () => {
          if (!expected.test(recent)) return;
          resolve(connection.text.slice(taken));
          taken = connection.text.length;
          recent = '';
        };
        check();
      }),
    ended: new Promise((resolve) => {
      socket.on('close', () => {
        connection.isEnded = true;
        resolve();
      });
    }),
  };
  socket.on('data', (chunk) => {
    connection.text += chunk;
    recent = (recent + chunk).slice(-2_000);
    check();
  });
  return connection;
}

/**
 * Sends bytes over a connection of their own. Resolves to the answer once it matches, the server has closed the
 * connection, or nothing more comes; rejects when the connection is refused.
 */
export async function rawRequest(base: string, bytes: string | Buffer, expected?: RegExp): Promise<string> {
  const connection = rawConnection(base, bytes);
  const { socket, ended, until } = connection;
  let refused: Error | undefined;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // The server may close the connection with some of our bytes unread.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') refused = error;
  });
  socket.setTimeout(SILENCE_MS, () => socket.destroy());
  await Promise.race([ended, ...(expected ? [until(expected)] : [])]);
  socket.destroy();
  if (refused) throw refused;
  return connection.text;
}

/** Opens connections that are closed, every other one with a reset, right after the request was written. */
export async function breakOff(base: string, requests: string[]): Promise<void> {
  await Promise.all(
    requests.map((request, i) => {
      const { socket, ended } = rawConnection(base, request);
      socket.once('connect', () => {
        if (i % 2 === 0) socket.resetAndDestroy();
        else setImmediate(() => socket.destroy());
      });
      return ended;
    }),
  );
}
