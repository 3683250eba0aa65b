import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../observe/logger.js';
import { metrics } from '../observe/metrics.js';

/** Any function; what it is given and returns is passed on. */
// biome-ignore lint/suspicious/noExplicitAny: callbacks of libraries have any parameters.
type Callback = (this: any, ...args: any[]) => any;

/** Ends what a callback belongs to. @param self, args of the callback that has failed */
type End = (self: unknown, args: unknown[]) => void;

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';

/** Parts of a server's connection from which the connection can be reached. */
type Part = Partial<Pick<Socket, 'destroy'>> & { socket?: Socket | null };

/** Ends the connection that an event of a server, a request, an answer or the connection itself is about. */
function destroyConnection(self: unknown, args: unknown[]): void {
  for (const part of [self, ...args] as (Part | undefined)[]) {
    const socket = part?.socket ?? part;
    if (socket && 'remoteAddress' in socket) (socket as Socket).destroy();
  }
}

/**
 * Contains what callbacks of connections throw, ours or a library's: it ends that one connection, is counted and logged once, and never
 * the process. Nothing else does: an uncaught exception leaves the process in an unknown state, and it stops.
 */
export class CallbackGuard {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * @param name of the callback, for the log
   * @param end ends its connection; may throw where that has ended
   * @returns the callback, which returns undefined where it throws, and resolves to it where it rejects
   */
  wrap<F extends Callback>(name: string, end: End, callback: F): F {
    const guard = this;
    return function (this: unknown, ...args: unknown[]) {
      try {
        const result: unknown = callback.apply(this, args);
        return isThenable(result)
          ? result.then(undefined, (error) => guard.fail(name, error, end, this, args))
          : result;
      } catch (error) {
        return guard.fail(name, error, end, this, args);
      }
    } as F;
  }

  /** Has methods of all objects of a class guarded, once. @param prototype that they inherit them from */
  methods(prototype: object, names: readonly string[], end: End): void {
    const own = prototype as Record<string, Callback>;
    for (const name of names) {
      const method = own[name];
      if (method && !guarded.has(method)) {
        own[name] = this.wrap(name, end, method);
        guarded.add(own[name]);
      }
    }
  }

  /** Has all listeners of an emitter guarded, those of libraries and those added later included. @param end by default ends the connection it is a part of */
  listeners(kind: string, emitter: EventEmitter, end: End = destroyConnection): void {
    const guard = this;
    const emit = emitter.emit;
    emitter.emit = function (this: EventEmitter, event: string | symbol, ...args: unknown[]): boolean {
      try {
        return emit.call(this, event, ...args);
      } catch (error) {
        guard.fail(`${kind} ${String(event)}`, error, end, this, args);
        return true;
      }
    };
  }

  /** Has the listeners of an HTTP server, of its connections, requests and answers guarded. To be called last: what is prepended comes first. */
  server(server: Server): void {
    this.listeners('server', server);
    server.prependListener('connection', (socket: Socket) => this.listeners('connection', socket));
    const onRequest = (req: IncomingMessage, res: unknown): void => {
      this.listeners('request', req);
      if (res instanceof EventEmitter && 'req' in res) this.answer(res as unknown as ServerResponse);
    };
    server.prependListener('request', onRequest);
    // A listener of its own would have Node hand connections over.
    if (server.listenerCount('upgrade') > 0) server.prependListener('upgrade', onRequest);
  }

  /** Has the listeners of an answer guarded. */
  answer(res: ServerResponse): void {
    this.listeners('answer', res, (_, args) => destroyConnection(res.req, args));
  }

  /** A callback has failed. */
  fail(name: string, error: unknown, end: End, self: unknown, args: unknown[]): undefined {
    metrics.unexpectedErrors.inc();
    this.#logger.error(
      { err: error, callback: name },
      'a callback of a connection failed: the connection is closed',
    );
    try {
      end(self, args);
    } catch {
      // It has ended.
    }
    return undefined;
  }
}

/** Methods that are guarded already: classes of libraries are shared by all engines of a process. */
const guarded = new WeakSet<Callback>();
