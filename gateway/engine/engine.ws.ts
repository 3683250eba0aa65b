import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as EngineServer } from 'engine.io';
import type { ServerOptions } from 'socket.io';
import type { Adapter } from 'socket.io-adapter';
import { framingFault, headerLines } from '../../domain/kernel/framing.js';
import { endAbandoned } from '../../domain/platform/process/abandoned-requests.js';
import type { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import { announceKeepAlive } from '../../domain/platform/process/keep-alive.js';
import type { SpareFiles } from '../../domain/platform/process/spare-files.js';
import { ConnectionsPerAddress } from '../../domain/platform/rate-limits/connections-per-address.js';
import type { GatewayServer } from '../connection/socket.js';
import { errorAnswer, framingAnswer, headersOf } from '../operations.js';
import { type EngineServer as ContainedServer, containEngine } from './contained.js';
import {
  type Answer,
  type Engine,
  type EngineHandlers,
  type EngineRequest,
  type Publisher,
  SOCKET_PATH,
} from './engine.js';
import type { Connection } from './engineio-internals.js';
import { EVENT, publishByAdapter } from './socketio-internals.js';
import { answerTime, Unanswered } from './unanswered.js';
import { bodyFault } from './upgrades.js';
import { guardConnection, UNREAD_MS } from './ws-connections.js';

/*
 * What Engine.IO's server on ws and node:http does not do by itself; ws-connections.ts has what concerns open connections
 * (docs/decisions/patched-internals.md). The packages are pinned; test/gateway/engine and the tests of hostile frames and unread answers fail if they change underneath.
 */

/** Time for a client to send its headers, and its whole request, ms; checked every CHECK_MS. The HTTP port has the same. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
const CHECK_MS = 1_000;

/** Systems whose kernel spreads connections over the processes of a port. (node:net, `reusePort`) */
const SHARING_SYSTEMS = new Set<string>(['linux', 'freebsd', 'dragonfly', 'sunos', 'aix']);

/** Whether this Node has the option `reusePort`. @param version of Node */
export function hasReusePort(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 22 && minor >= 12) || (major === 23 && minor >= 1) || major > 23;
}

/** Why several processes of this Node cannot listen on one port; undefined if they can. */
function whyUnshared(version: string): string | undefined {
  if (hasReusePort(version) && SHARING_SYSTEMS.has(process.platform)) return undefined;
  return (
    `with the engine ws, gateways share a port only on Linux and BSD with Node 22.12 or newer, and this is Node ${version} ` +
    `on ${process.platform}: set GATEWAY_INSTANCES=1, or give each gateway a GATEWAY_PORT of its own behind the proxy`
  );
}

/** @param isUpgrade whether Node hands its connection over */
function readRequest(req: IncomingMessage, isUpgrade: boolean): EngineRequest {
  const { method = '', url = '', headers, rawHeaders, socket } = req;
  // Without the fragment, as Engine.IO reads it.
  const [target = ''] = url.split('#');
  const [path = '', ...query] = target.split('?');
  return {
    ...{ method, path, query: query.join('?'), headers, remoteAddress: socket.remoteAddress ?? '' },
    isUpgrade: isUpgrade && headers.upgrade?.toLowerCase() === 'websocket',
    framingFault: framingFault(headerLines(rawHeaders)) ?? (isUpgrade ? bodyFault(headers) : undefined),
  };
}

/** Connections that end with an answer which is under way: nothing that their clients send is read any more. */
const ending = new WeakSet<Socket>();

/** Sends an answer when it is ready. */
function answer(res: ServerResponse, ready: Promise<Answer>): void {
  ready.catch(errorAnswer).then((given) => {
    res.statusCode = given.status;
    if (given.closes) res.setHeader('Connection', 'close');
    for (const [name, value] of Object.entries(headersOf(given))) res.setHeader(name, value);
    res.end(given.body);
  });
}

/** A response to a request to upgrade that is not upgraded: Node leaves its connection to us. */
function responseTo(req: IncomingMessage): ServerResponse {
  const { socket } = req;
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  // Node has taken its own listener off. A WebSocket's response never ends.
  res.once('prefinish', () => socket.once('timeout', () => socket.destroy()));
  res.once('finish', () => {
    res.detachSocket(socket);
    socket.end();
    socket.setTimeout(UNREAD_MS);
  });
  return res;
}

/** Sends through the adapter, which sends to each socket; Socket.IO's own acknowledgements are in the same order. */
class WsPublisher implements Publisher {
  readonly #adapter: Adapter;

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  event(room: string, event: string, payload: unknown): void {
    // Nothing is encoded for a room without sockets.
    if (this.#adapter.rooms.has(room)) {
      publishByAdapter(this.#adapter, room, { type: EVENT, data: [event, payload] });
    }
  }

  prepare(): void {}
}

/** Engine.IO's own server: ws over node:http. Runs on every Node. */
export class WsEngine implements Engine {
  readonly name = 'ws';
  readonly unshared: string | undefined;
  readonly #server: Server;
  /** All connections: Node forgets those that were upgraded. */
  readonly #open = new Set<Socket>();

  readonly #callbacks: CallbackGuard;
  readonly #files: SpareFiles;
  #unanswered: Unanswered<ServerResponse> | undefined;

  /**
   * @param callbacks contains what they throw
   * @param files closes new connections while they are short
   * @param keepAliveMs how long an idle connection is kept
   * @param version of Node
   */
  constructor(callbacks: CallbackGuard, files: SpareFiles, keepAliveMs: number, version: string) {
    this.#callbacks = callbacks;
    this.#files = files;
    this.unshared = whyUnshared(version);
    this.#server = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
      keepAliveTimeout: keepAliveMs,
    });
  }

  attach(io: GatewayServer, options: Partial<ServerOptions>, handlers: EngineHandlers): Publisher {
    const engine = new EngineServer(options);
    io.bind(engine);
    containEngine(engine as unknown as ContainedServer, this.#callbacks, (req) =>
      (req as IncomingMessage).socket.destroy(),
    );
    this.#keepConnections(new ConnectionsPerAddress(handlers.perAddress));
    endAbandoned(this.#server);
    const unanswered = new Unanswered<ServerResponse>(answerTime(options), ({ req }) => req.socket.destroy());
    this.#unanswered = unanswered;
    const serve = (
      req: IncomingMessage,
      res: ServerResponse,
      isUpgrade: boolean,
      pass: (request: EngineRequest) => void,
    ): void => {
      announceKeepAlive(res);
      res.setHeader('X-Content-Type-Options', 'nosniff');
      if (!isUpgrade) {
        unanswered.add(res);
        res.once('close', () => unanswered.delete(res));
      }
      // Once it has ended: a poll waits for longer.
      res.once('prefinish', () => res.setTimeout(UNREAD_MS));
      const request = readRequest(req, isUpgrade);
      const isOurs = request.path === SOCKET_PATH;
      const refusal = framingAnswer(request) ?? handlers.refuse(request);
      if (refusal?.closes) ending.add(req.socket);
      if (refusal) answer(res, Promise.resolve(refusal));
      else if (isOurs) pass(request);
      else answer(res, handlers.serve(request));
    };
    this.#server.on('request', (req, res) => {
      if (ending.has(req.socket)) return;
      // The client has not read the answer before.
      if (req.socket.writableLength > 0) req.socket.destroy();
      else serve(req, res, false, () => engine.handleRequest(req as never, res));
    });
    this.#server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Until ws has its own listener.
      socket.on('error', () => {});
      // Behind a request that is not answered yet, `assignSocket` would throw, and end the process.
      if ((socket as Duplex & { _httpMessage?: object | null })._httpMessage) {
        socket.destroy();
        return;
      }
      const res = responseTo(req);
      this.#callbacks.answer(res);
      serve(req, res, true, ({ isUpgrade }) => {
        if (!isUpgrade) {
          engine.handleRequest(req as never, res);
          return;
        }
        res.detachSocket(req.socket);
        engine.handleUpgrade(req as never, socket, head);
      });
    });
    engine.on('connection', (connection: Connection) =>
      guardConnection(connection, handlers.guard, this.#callbacks),
    );
    this.#callbacks.server(this.#server);
    return new WsPublisher(io.of('/').adapter);
  }

  /** Closes new connections while the process is short of files, and those of an address that has too many. */
  #keepConnections(perAddress: ConnectionsPerAddress): void {
    this.#server.on('connection', (socket: Socket) => {
      const isRefused = this.#files.refuses() || !perAddress.add(socket);
      if (isRefused) {
        socket.destroy();
        return;
      }
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  listen(host: string, port: number, shared: boolean): Promise<number | undefined> {
    const server = this.#server;
    // The types of Node 20 lack `reusePort`.
    const options: ListenOptions & { reusePort: boolean } = {
      host,
      port,
      reusePort: shared && this.unshared === undefined,
    };
    return new Promise((resolve) => {
      server.once('error', () => resolve(undefined));
      server.listen(options, () => {
        server.removeAllListeners('error');
        server.on('error', (error) => this.#files.acceptFailed(error));
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  stopAccepting(): void {
    // The `close` of an HTTP server also resets idle connections, and with them polls under way.
    NetServer.prototype.close.call(this.#server);
  }

  close(): void {
    this.#unanswered?.stop();
    this.stopAccepting();
    for (const socket of this.#open) socket.destroy();
  }
}
