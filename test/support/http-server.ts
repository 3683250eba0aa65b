import { subscribe } from 'node:diagnostics_channel';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Domain } from '../../domain/domain.js';
import type { Config } from '../../domain/platform/config.js';
import { createLogger } from '../../domain/platform/logger.js';
import { listCloseReasons } from '../../gateway/close-reasons.js';
import { clientEvents } from '../../gateway/events/index.js';
import { createHttpServer, type HttpServer } from '../../http/server.js';
import { service } from './service.js';

export interface ServedHttp {
  server: HttpServer;
  port: number;
  base: string;
}

/**
 * The service under test over HTTP once more, with other settings, parts of the domain, or patience with
 * clients that do not read. Whoever asks for it drains it.
 */
export async function serveHttp(
  settings: Partial<Config> = {},
  parts: Partial<Domain> = {},
  stalledMs?: number,
): Promise<ServedHttp> {
  const { domain, config } = await service();
  const logger = createLogger('silent', 'test');
  const server = createHttpServer({ ...config, ...settings, HTTP_PORT: 0 }, logger, stalledMs);
  const sockets = { port: 0, events: clientEvents, closeReasons: listCloseReasons() };
  const port = await server.listen({ ...domain, ...parts }, async () => {}, sockets);
  return { server, port, base: `http://127.0.0.1:${port}` };
}

/** The latest answer on each connection, with its server, by the port that its client has. */
const answers = new Map<number | undefined, { response: ServerResponse; server: Server }>();
subscribe('http.server.request.start', (message) => {
  const { response, server, socket } = message as {
    response: ServerResponse;
    server: Server;
    socket: Socket;
  };
  const { remotePort } = socket;
  if (!answers.has(remotePort)) socket.once('close', () => answers.delete(remotePort));
  answers.set(remotePort, { response, server });
});

/** The latest answer to a client of this process, as the server has it. */
export const answerTo = (client: Socket) => answers.get(client.localPort);

/** A connection that HTTP is written to by hand. */
export interface RawConnection {
  socket: Socket;
  /** Everything that came. */
  text: string;
  /** Resolves with what came since the last time, once its last 2,000 characters fit. */
  until(fits: RegExp): Promise<string>;
  /** Resolves when the other side has ended it. */
  ended: Promise<void>;
  isEnded: boolean;
}

/** Opens one. @param request what is sent at once */
export function rawConnection(port: number, request = ''): RawConnection {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  if (request) socket.write(request);
  let taken = 0;
  /** The end of what came since: a whole large answer, looked at with every chunk, takes seconds. */
  let news = '';
  let look = () => {};
  const connection: RawConnection = {
    socket,
    text: '',
    isEnded: false,
    until: (fits) =>
      new Promise((resolve) => {
        look = () => {
          if (!fits.test(news)) return;
          resolve(connection.text.slice(taken));
          taken = connection.text.length;
          news = '';
        };
        look();
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
    news = (news + chunk).slice(-2_000);
    look();
  });
  return connection;
}
