import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Fault } from './check.js';

/** Time between two pieces, ms: the peer reads each by itself. */
const PIECE_MS = 100;

/** Time limit of the answer, ms. */
const ANSWER_MS = 3_000;

/**
 * Sends a GET request whose first line arrives in three pieces, cut after the method and inside the line break.
 * Old versions of uWebSockets answer 505 to such a line. (uWebSockets#1776)
 *
 * @returns the status of the answer
 * @throws Fault that names the host if there is no answer
 */
export async function statusInPieces(url: URL): Promise<number> {
  const { hostname, host, protocol, pathname, search } = url;
  const isTls = protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  const address = hostname.replace(/^\[|\]$/g, '');
  const socket = isTls
    ? connectTls({ host: address, port, servername: address })
    : connectPlain({ host: address, port });
  socket.setNoDelay(true).setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer')));
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
    const answered = once(socket, 'data') as Promise<[Buffer]>;
    // An answer to the first piece may close the connection before the last one is sent.
    socket.on('error', () => {});
    for (const piece of ['GET ', `${pathname}${search} HTTP/1.1\r`]) {
      socket.write(piece);
      await Promise.race([pause(PIECE_MS), answered]);
    }
    socket.write(`\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const [answer] = await answered;
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer.toString('latin1'))?.[1]);
  } catch (error) {
    throw new Fault(`${host} does not answer a request in pieces`, 'check the address and the proxy', error);
  } finally {
    socket.destroy();
  }
}
