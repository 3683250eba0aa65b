import * as uws from 'uWebSockets.js';
import {
  App,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocket,
  type WebSocketBehavior,
} from 'uWebSockets.js';
import type { ServerOptions } from 'socket.io';
import type { Adapter } from 'socket.io-adapter';
import type { CallbackGuard } from '../../domain/platform/process/callback-guard.js';
import type { SpareFiles } from '../../domain/platform/process/spare-files.js';
import type { GatewayServer, GatewaySocket } from '../connection/socket.js';
import { framingAnswer } from '../operations.js';
import { containCallbacks } from './callbacks.uws.js';
import { containEngine, type EngineServer } from './contained.js';
import type { Engine, EngineHandlers, EngineRequest, Publisher } from './engine.js';
import {
  type Connection,
  holdPolls,
  limitBacklog,
  MAX_BACKPRESSURE,
  type Transport,
} from './engineio-internals.js';
import { frameBytes } from './frame-meter.js';
import { answer, type HttpAnswer, linesOf, readRequest } from './requests.uws.js';
import { ACK, EVENT, publishByAdapter } from './socketio-internals.js';
import { answerTime, Unanswered } from './unanswered.js';
import { isHandshake } from './upgrades.js';

/*
 * What Engine.IO's server on uWebSockets.js does not do by itself, and what it hides (docs/decisions/patched-internals.md).
 * The packages are pinned; test/gateway/engine and the tests of hostile frames and unread answers fail if they change
 * underneath. One per process: Socket.IO replaces methods of a shared prototype.
 */

/** LIBUS_LISTEN_EXCLUSIVE_PORT, which the package exports without a type. */
const EXCLUSIVE_PORT = 1;

/** LIBUS_LISTEN_DEFAULT: several processes take connections of one port (SO_REUSEPORT). */
const SHARED_PORT = 0;

/** The form of `listen` that takes host and options, which the package's types leave out. */
type Listen = (
  host: string,
  port: number,
  options: number,
  done: (socket: us_listen_socket | false) => void,
) => void;

/** A long-polling transport; `res` wraps the answer to the poll under way. */
interface Polling extends Transport {
  res: { res: HttpAnswer };
}

/** What Engine.IO keeps with a WebSocket. */
interface Upgraded {
  transport: Transport;
  response?: object | undefined;
}

/** No answer of the process has uWebSockets.js's name. Undocumented: some packages have the switch in their default export alone. */
function silence(): void {
  type Switch = { _cfg?(key: string): void };
  const { _cfg, default: whole } = uws as unknown as Switch & { default?: Switch };
  (_cfg ?? whole?._cfg)?.('silent');
}

/** The JSON of a payload, with it: a message goes to its room and, in the acknowledgement, to its sender. */
const JSON_TEXT = Symbol('JSON');

interface Payload {
  [JSON_TEXT]?: string;
}

function jsonOf(payload: Payload): string {
  payload[JSON_TEXT] ??= JSON.stringify(payload);
  return payload[JSON_TEXT];
}

/** The JSON of an answer, with that of its message, if it has been delivered. */
function answerJson(answer: { status?: number; message?: Payload }): string {
  const message = answer.message?.[JSON_TEXT];
  return message === undefined ? JSON.stringify(answer) : `{"status":${answer.status},"message":${message}}`;
}

/**
 * Publishes to Socket.IO's topics of uWebSockets.js, as Socket.IO's own adapter does, without its search of the room for
 * long-polling sockets, which costs a third of a broadcast. While such sockets are connected, the adapter does the work.
 */
export class UwsPublisher implements Publisher {
  readonly #adapter: Adapter;
  readonly #app: uws.TemplatedApp;
  readonly #polling = new Set<Connection>();
  /** Shared by all connections. */
  readonly #ack: (this: GatewaySocket, id: number) => (answer: object) => void;

  constructor(adapter: Adapter, app: uws.TemplatedApp) {
    this.#adapter = adapter;
    this.#app = app;
    const acknowledge = this.#acknowledge.bind(this);
    this.#ack = function (id) {
      return (given) => acknowledge(this.id, id, given);
    };
  }

  /** Takes into account a connection that uses long-polling. */
  countPolling(connection: Connection): void {
    this.#polling.add(connection);
    const forget = () => this.#polling.delete(connection);
    connection.once('upgrade', forget);
    connection.once('close', forget);
  }

  event(room: string, event: string, payload: unknown, json?: string): void {
    // Nothing is encoded for a room without sockets.
    if (!this.#adapter.rooms.has(room)) return;
    if (this.#polling.size > 0)
      publishByAdapter(this.#adapter, room, { type: EVENT, data: [event, payload] });
    else this.#publish(room, `${EVENT}["${event}",${json ?? jsonOf(payload as object)}]`);
  }

  #acknowledge(room: string, id: number, answer: object): void {
    if (this.#polling.size > 0) publishByAdapter(this.#adapter, room, { type: ACK, data: [answer], id });
    else this.#publish(room, `${ACK}${id}[${answerJson(answer)}]`);
  }

  /** The topic is named by namespace and room; 4 is Engine.IO's message packet. */
  #publish(room: string, packet: string): void {
    this.#app.publish(`/\x1f${room}`, `4${packet}`);
  }

  /**
   * Acknowledgements are published to the room of the connection's own id: uWebSockets.js writes everything published in
   * one turn of the event loop by one system call, while a direct send first flushes what was published before.
   */
  prepare(socket: GatewaySocket): void {
    Object.assign(socket, { ack: this.#ack });
  }
}

/** A request, which Engine.IO passes on, with its response. */
const RESPONSE = Symbol('response');

interface Asked {
  [RESPONSE]?: HttpResponse;
}

/** uWebSockets.js: native publishes, some 1.4 to 10 times cheaper than ws (docs/performance.md). */
export class UwsEngine implements Engine {
  readonly name = 'uws';
  readonly #app = App();
  readonly #callbacks: CallbackGuard;
  readonly #files: SpareFiles;
  #unanswered: Unanswered<HttpResponse> | undefined;
  #listening: us_listen_socket | undefined;

  constructor(callbacks: CallbackGuard, files: SpareFiles) {
    this.#callbacks = callbacks;
    this.#files = files;
  }

  attach(io: GatewayServer, options: Partial<ServerOptions>, handlers: EngineHandlers): UwsPublisher {
    const app = this.#app;
    silence();
    containCallbacks(app, this.#callbacks);
    this.#unanswered = new Unanswered(answerTime(options), (res) => res.close());
    this.#guardFiles();
    this.#guardRequests(handlers);
    this.#guardSockets(handlers);
    io.attachApp(app);
    containEngine(io.engine as unknown as EngineServer, this.#callbacks, (req) =>
      (req as Asked)[RESPONSE]?.close(),
    );
    const publisher = new UwsPublisher(io.of('/').adapter, app);
    io.engine.on('connection', (connection: Connection) => {
      const { transport } = connection;
      if (transport.name === 'websocket') return;
      publisher.countPolling(connection);
      limitBacklog(connection, () => 0);
      holdPolls(transport as Polling, ({ res: { res } }) => (done) => {
        if (res.unsent) res.onSent = done;
        else done();
      });
    });
    return publisher;
  }

  /** Closes new connections while the process is short of files. */
  #guardFiles(): void {
    const files = this.#files;
    /** @param change 1 for an accepted connection, -1 for one that has ended */
    function onChange(res: HttpResponse, change: number): void {
      if (change > 0 && files.refuses()) res.close();
    }
    this.#app.filter(onChange);
  }

  #read(res: HttpResponse, req: HttpRequest, isUpgrade: boolean): EngineRequest {
    (req as Asked)[RESPONSE] = res;
    return readRequest(res, req, isUpgrade, this.#unanswered);
  }

  #guardRequests({ refuse, serve }: EngineHandlers): void {
    const any = this.#app.any.bind(this.#app);
    this.#app.any = (pattern, handler) =>
      any(pattern, (res, req) => {
        const request = this.#read(res, req, false);
        const refusal = framingAnswer(request) ?? refuse(request);
        if (refusal) answer(res, Promise.resolve(refusal));
        else return handler(res, req);
      });
    any('/*', (res, req) => {
      const request = this.#read(res, req, false);
      const refusal = framingAnswer(request) ?? refuse(request);
      answer(res, refusal ? Promise.resolve(refusal) : serve(request));
    });
  }

  /**
   * A WebSocket that does not read is closed (fault 12), where it would lose messages unnoticed. Binary frames are
   * refused: no event has any, and their bytes are only valid until the handler returns. The handshake's response is
   * released: Engine.IO keeps it for middleware that waits for the end of the connection, which CORS does not.
   */
  #guardSockets({ refuse, guard }: EngineHandlers): void {
    const ws = this.#app.ws.bind(this.#app);
    const mayPass = (socket: WebSocket<unknown>, { byteLength }: ArrayBuffer): boolean =>
      !guard || guard.mayPass((socket.getUserData() as Upgraded).transport, 1, frameBytes(byteLength));
    this.#app.ws = ((pattern: string, behavior: WebSocketBehavior<unknown>) => {
      const { upgrade, open, message } = behavior;
      return ws(pattern, {
        ...behavior,
        maxBackpressure: MAX_BACKPRESSURE,
        closeOnBackpressureLimit: true,
        upgrade: (res, req, context) => {
          if (!isHandshake(linesOf(req))) {
            req.setYield(true);
            return;
          }
          const request = this.#read(res, req, true);
          const refusal = framingAnswer(request) ?? refuse(request);
          if (refusal) answer(res, Promise.resolve(refusal));
          else return upgrade?.(res, req, context);
        },
        open(socket) {
          (socket.getUserData() as Upgraded).response = undefined;
          open?.(socket);
        },
        // Called for each message until uWebSockets.js closes the connection, in the next turn of the event loop.
        dropped(socket) {
          (socket.getUserData() as Upgraded).transport.isSlow = true;
        },
        message(socket, data, isBinary) {
          if (isBinary) socket.end(1003, 'binary frames are not accepted');
          else if (mayPass(socket, data)) message?.(socket, data, isBinary);
        },
        // uWebSockets.js has answered it.
        ping: mayPass,
        pong: mayPass,
        close(socket, code, reason) {
          const { transport } = socket.getUserData() as Upgraded;
          guard?.closed(transport);
          behavior.close?.(socket, code, reason);
        },
      });
    }) as uws.TemplatedApp['ws'];
  }

  listen(host: string, port: number, shared: boolean): Promise<number | undefined> {
    const listen = this.#app.listen.bind(this.#app) as unknown as Listen;
    return new Promise((resolve) => {
      // A single process binds the port exclusively: uWebSockets.js would share it unnoticed.
      listen(host, port, shared ? SHARED_PORT : EXCLUSIVE_PORT, (socket) => {
        this.#listening = socket || undefined;
        resolve(socket ? us_socket_local_port(socket) : undefined);
      });
    });
  }

  stopAccepting(): void {
    if (this.#listening) us_listen_socket_close(this.#listening);
    this.#listening = undefined;
  }

  close(): void {
    this.#unanswered?.stop();
    this.stopAccepting();
    this.#app.close();
  }
}
