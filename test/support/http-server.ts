import { subscribe } from 'node:diagnostics_channel';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Domain } from '../../domain/domain.js';
import { createLogger } from '../../domain/platform/observe/logger.js';
import type { Config } from '../../domain/platform/settings/config.js';
import { pushes, requests } from '../../gateway/protocol.js';
import { type ClientTimes, HttpServer } from '../../http/server.js';
import { service } from './service.js';

export interface ServedHttp {
  server: HttpServer;
  port: number;
  base: string;
}

/**
 * A second HTTP server over the domain of the service in this process. The caller drains it.
 *
 * @param parts replacements for parts of the domain
 * @param times of clients, shorter than the default ones
 */
export async function serveHttp(
  settings: Partial<Config> = {},
  parts: Partial<Domain> = {},
  times: Partial<ClientTimes> = {},
): Promise<ServedHttp> {
  const { domain, config } = await service();
  const logger = createLogger('silent', 'test');
  const server = new HttpServer({ ...config, ...settings, HTTP_PORT: 0 }, logger, times);
  const sockets = { port: 0, requests, pushes };
  const port = await server.listen({ ...domain, ...parts }, async () => {}, sockets);
  return { server, port, base: `http://127.0.0.1:${port}` };
}

/** The latest answer on each connection, with its server, by the client's port. */
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

/** The latest answer to a client of this process, on the server's side. */
export const answerTo = (client: Socket) => answers.get(client.localPort);
